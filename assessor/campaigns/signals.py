"""What apps above can be told of."""

from django.dispatch import Signal

# Sent with import_record once an import is done, outside its transactions: what receivers do undoes nothing.
import_done = Signal()

# Sent with campaign_id and pks, those of records of the sender, in the transaction in which jobs, imports or tasks end.
ended = Signal()
