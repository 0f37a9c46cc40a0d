# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What emptying a node of its pods does, and what forbids it: pure rules over objects of the Kubernetes API."""
