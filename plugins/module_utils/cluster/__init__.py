# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Speaks to the Kubernetes API. Runs on the controller only, with the package `kubernetes`."""
