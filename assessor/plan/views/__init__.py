"""The pages of the plan."""
