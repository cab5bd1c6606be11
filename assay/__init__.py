"""What people call: the command `assay`, and statistics and file formats for notebooks."""
