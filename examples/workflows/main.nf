// Folds each file of designs/ in a process of its own and ranks all: nextflow run main.nf -resume
// FOLDATLAS_URL and FOLDATLAS_TOKEN say where and as whom. The idempotency key follows from the content of a file: a process
// that runs again, in whatever folder, is not paid twice. --again WORD would pay for another submission.
params.designs = 'designs/*.yaml'

process check { // free; ends with 65 and every mistake before the first design is paid
    input: path designs
    output: val true
    script: "foldatlas check $designs --pae"
}

process fold { // ends with 1 for a failed task, with 2 where the gateway is away or refuses: only that is tried again
    errorStrategy { task.exitStatus == 2 ? 'retry' : task.exitStatus == 1 ? 'ignore' : 'terminate' }
    maxRetries 3
    maxForks 20
    input:
    path design
    val checked
    output: path "${design.baseName}"
    script: "foldatlas fold $design --pae --watch --out '${design.baseName}'"
}

process rank {
    publishDir '.', mode: 'copy'
    input: path folders
    output: path 'ranking.tsv'
    script: "foldatlas rank $folders --by ipsae > ranking.tsv"
}

workflow {
    designs = channel.fromPath(params.designs)
    rank(fold(designs, check(designs.collect())).collect())
}
