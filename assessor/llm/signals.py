"""What apps above can be told of; what they do then undoes nothing."""

from django.dispatch import Signal

# Sent with job, outside transactions, once a process has done what it could of a job, ended or not.
job_worked_on = Signal()
