"""An endpoint of the chat-completions API with no model behind it.

It recognises the prompts of jobs and replies as their kinds say, the same request always in the same way, so that the
whole product can run, be shown and be tested over real HTTP without a key. Its knobs make it slow and faulty.

request.py reads what came, recognition.py finds its prompt, word_overlap.py compares texts for those who answer,
replies.py spells the answer out, outcomes.py draws what goes wrong, completions.py ties these together for live and
batched requests; files.py keeps uploads, batch_input.py checks them, batches.py answers them; request_log.py keeps the
log, app.py routes, server.py listens.
"""
