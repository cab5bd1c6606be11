"""Events of the history as sentences. A verb is what a record says; a sentence is what a person reads."""

SYSTEM = "System"

# By verb: what follows the name of whoever did it. {} is what the event is about.
_PREDICATES = {
    "account made": "created an account for {}",
    "archive asked for": "asked for an archive of {}",
    "archive written": "wrote an archive of {}",
    "archive restored": "restored {} from an archive",
    "archive stopped": "stopped the archive of {}",
    "assessor added": "added {} as an assessor",
    "assessor reminded": "reminded the assessor of {}",
    "assessor removed": "ended the role of {} as an assessor",
    "bank finished": "finished the {}",
    "bank reopened": "opened the {} again",
    "banks matched": "matched two banks of a topic in {}",
    "budget changed": "changed the budget of the job {}",
    "trials set": "set who is asked where people try nuggets of {}",
    "calibration gate set": "set the calibration gate: {}",
    "calibration made": "calibrated {}",
    "campaign created": "created the campaign {}",
    "citations known": "added citations to {}",
    "citations moved": "moved citations of {}",
    "comparison made": "made the comparison {}",
    "condition changed": "moved work on {} to another condition",
    "condition created": "created the condition {}",
    "condition frozen": "froze the condition {}",
    "condition named for assessors": "changed what assessors read of {}",
    "control set alarmed": "found that the judge of the control set {} labels otherwise than before",
    "control set changed": "changed the control set {}",
    "control set checked": "compared the control set {} with its first labels",
    "control set drawn": "made the control set {}",
    "error code defined": "defined the error code {}",
    "export asked for": "asked for the file {}",
    "export stopped": "stopped the export of {}",
    "exported": "downloaded {}",
    "failed units retried": "had failures of the job {} tried again",
    "guidelines changed": "changed the guidelines: {}",
    "hybrid scores made": "estimated the hybrid scores {}",
    "import stopped": "stopped the import of {}",
    "imported": "imported {}",
    "invitation declined": "declined the invitation of {}",
    "invitation withdrawn": "withdrew the invitation of {}",
    "invited as assessor": "invited {} as an assessor",
    "invited as organizer": "invited {} as an organizer",
    "job cancelled": "cancelled the job {}",
    "job done": "finished the job {}",
    "job goes on live": "had the rest of the job {} asked one by one",
    "job halted": "halted the job {}",
    "job launched": "launched the job {}",
    "job paused": "paused the job {}",
    "job resumed": "resumed the job {}",
    "judge changed": "changed how the judge {} is reached",
    "judge created": "created the judge {}",
    "label adopted": "settled a label of {} with another person's label",
    "label decided": "decided a label of {}",
    "languages set": "said which languages {} reads",
    "lease ran out": "ended the lease of {}",
    "nugget left out": "left a nugget of {} out of scores",
    "nugget taken back": "brought a nugget of {} back into scores",
    "organizer added": "added {} as an organizer",
    "organizer removed": "ended the role of {} as an organizer",
    "person active again": "let {} sign in again",
    "person made inactive": "stopped {} from signing in",
    "planned work taken back": "cancelled planned work: {}",
    "practice reference named": "named a reference for practice: {}",
    "prompts imported": "imported the prompt set {}",
    "protocol changed": "changed the protocol, which is now {}",
    "question answered": "answered a question about {}",
    "relevance finished": "finished {}",
    "relevance opened again": "opened {} again",
    "report reopened": "opened the {} again",
    "report signed": "signed the {}",
    "report written": "wrote the reports {}",
    "run brought back": "brought the run {} back into a condition",
    "run details changed": "changed the details of the run {}",
    "run dropped": "left the run {} out of a condition",
    "runs to judge": "chose which runs are judged on {}",
    "score table imported": "imported the score table {}",
    "second factor no longer required": "made a second factor optional in {}",
    "second factor required": "required a second factor in {}",
    "second factor reset": "reset the second factor of {}",
    "sensitivity study drawn": "drew the sample of the sensitivity study {}",
    "sign-in link made": "made a sign-in link for {}",
    "study drawn": "made the study {}",
    "study registered": "registered the study {}",
    "task drawn": "took {} from the queue",
    "topic counts again": "ended practice on the topic {}",
    "topic marked for practice": "made {} a topic for practice",
    "topic put in queue": "put {} in the queue",
    "topic taken out of queue": "took {} out of the queue",
    "topics allotted": "gave out topics at random in {}",
    "topics drawn": "drew topics at random under {}",
    "work planned": "planned {}",
}
# Of a task, which is called as "support of t1 by ben": {} is what it is, {by} whose.
_OF_TASKS = {
    "task given": "gave {} to {by}",
    "task paused": "paused {} of {by}",
    "task reassigned": "gave {} of {by} to somebody else",
    "task resumed": "resumed {} of {by}",
    "task withdrawn": "took {} away from {by}",
}
# Verbs that begin with a kind of work.
_ENDINGS = {"opened again": "opened {} again", "reopened": "opened {} again"}


def predicate(verb: str, subject: str) -> str:
    """Return what somebody did, to be read after their name; a verb without a sentence stands as it is."""
    if verb in _OF_TASKS:
        what, _, whose = subject.rpartition(" by ")
        return _OF_TASKS[verb].replace("{by}", whose).replace("{}", what)
    if verb.endswith(" signed off"):
        return f"signed off {subject.rpartition(' by ')[0] or subject}"
    told = _PREDICATES.get(verb) or next((one for end, one in _ENDINGS.items() if verb.endswith(f" {end}")), None)
    return told.replace("{}", subject) if told else f"{verb}: {subject}"
