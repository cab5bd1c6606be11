"""What apps above can be told of; what they do then undoes nothing."""

from django.dispatch import Signal

# Sent with import_record once an import is done, outside its transactions.
import_done = Signal()
