# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Everything that is simulated: node trees, the reboot, the kernel's answers, the kubelet.

Never imported by code that reads, plans, applies or verifies.
"""
