# Make runs.csv of the TREC 2024 RAG track's published table of scores, whose names of runs have the team before the tag
# and, three of them, differ further from the tags of NIST's files: awk -f bench/trec_rag_2024_runs.awk table6.csv
BEGIN { FS = ","; print "tag,team,task,type,priority,aliases" }
NR > 1 {
    team = $1; sub(/\..*/, "", team)
    alias = $1; sub(/^[^.]*\./, "", alias)
    if (alias == "webis-manual") alias = "webis-manual-manual"
    if (alias ~ /^Ranked_Iterative/) alias = "Ranked_Iterative_Fact_Extraction_and_Refinement"
    if (alias ~ /^Enhanced_Iterative/) alias = "Enhanced_Iterative_Fact_Refinement_and_Prioritization"
    print $1 "," team "," $2 ",,," alias
}
