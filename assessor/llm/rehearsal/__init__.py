"""An endpoint of the chat-completions API with no model behind it.

It recognises the prompts of jobs and replies as their kinds say, the same request always in the same way, so that the
whole product can run, be shown and be tested over real HTTP without a key. Its knobs make it slow and faulty.

request.py reads what came, recognition.py finds its prompt, words.py compares texts for those who answer, writing.py
spells the answer out, fate.py draws what goes wrong, journal.py keeps the log, app.py ties it together, serving.py
listens.
"""
