"""Tasks of people, their order, and the rules of every write an assessor makes."""
