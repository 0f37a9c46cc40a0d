# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From bare machines to a kubeadm cluster: what is judged, written and asked for, without doing any of it."""
