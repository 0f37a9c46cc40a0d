"""What touches the outside: Ansible, files, the lab."""
