// foldatlas fold: submits, follows and saves. Each step can be resumed later by the batch's id.
import { command } from './command.ts';
import { readFoldInput } from './fold-input.ts';
import { saveBatch } from './fold-save.ts';
import { submitFold } from './fold-submit.ts';
import { watchBatch } from './fold-watch.ts';
import { connect, TARGET_ARGS } from './gateway-client.ts';
import { CliExit, EXIT, readInput } from './session.ts';

export default command({
  name: 'fold',
  summary: 'Submits folds, follows them, saves results, structures and a ranking',
  args: {
    file: {
      type: 'positional',
      description: 'Submission as YAML or JSON, or FASTA; - for standard input',
      required: false,
    },
    watch: { type: 'boolean', description: 'Follow it to its end, then save the results' },
    out: {
      type: 'string',
      description: 'Folder for results (foldatlas-BATCH when not given)',
      valueHint: 'DIR',
    },
    batch: {
      type: 'string',
      description: 'Take up this batch instead of submitting: follow it and save its results',
      valueHint: 'ID',
    },
    again: {
      type: 'string',
      description: 'A word that makes the same file another submission, paid for again',
      valueHint: 'WORD',
    },
    ...TARGET_ARGS,
  },
  examples: [
    [
      'foldatlas fold complex.yaml --watch --out results',
      'JSON and mmCIF of each task, and scores.tsv, best ipTM first',
    ],
    [
      'foldatlas fold proteins.fasta',
      'Only submit; writes the id of the batch. A:B in a sequence is a complex',
    ],
    ['foldatlas fold --batch ID --out results', 'Go on where a run was interrupted'],
    ['foldatlas fold complex.yaml --again second', 'The same once more; without --again it never pays twice'],
  ],
  exits: [
    [EXIT.ok, 'submitted, or with --watch: every task is done and saved'],
    [EXIT.notAllGood, 'some tasks failed, were cancelled or could not be saved; they are listed'],
    [EXIT.unreachable, 'the gateway cannot be reached, or the service refuses'],
    [EXIT.usage, 'the command line is wrong'],
    [EXIT.data, 'the file cannot be folded; every mistake is told, nothing was sent'],
    [EXIT.interrupted, 'interrupted; the batch goes on, and how to take it up is told'],
  ],
  async run({ file, watch, out, batch, again, url, 'token-file': tokenFile }, session) {
    if ((file === undefined) === (batch === undefined))
      throw new CliExit(
        EXIT.usage,
        'Give a file to submit, or --batch ID to take up. See foldatlas fold --help.',
      );
    const input = file === undefined ? undefined : readFoldInput(await readInput(file), again);
    const place = await connect(session, { url, tokenFile });
    let batchId = batch;
    const resume = () =>
      `foldatlas fold --batch ${batchId}${out === undefined ? '' : ` --out ${out}`}` +
      `${url === undefined ? '' : ` --url ${url}`}`;
    try {
      if (input !== undefined) {
        batchId = await submitFold(place, session, input);
        await session.out(`${batchId}\n`);
      }
      if (batchId === undefined || (input !== undefined && watch !== true)) {
        session.say(`Follow it with: ${resume()}`);
        return EXIT.ok;
      }
      await watchBatch(place, session, batchId);
      const folder = out ?? `foldatlas-${batchId}`;
      const without = await saveBatch(place, session, batchId, folder);
      for (const line of without) session.say(`without a result: ${line}`);
      session.say(`Results and scores.tsv are in ${folder}.`);
      return without.length > 0 ? EXIT.notAllGood : EXIT.ok;
    } catch (error) {
      if (
        batchId !== undefined &&
        (session.interruption() !== undefined ||
          (error instanceof CliExit && error.exit === EXIT.unreachable))
      )
        session.say(`The batch goes on without this command. Take it up with: ${resume()}`);
      else if (session.interruption() !== undefined)
        session.say('Interrupted before there was a batch. Run the same again: it is not paid twice.');
      throw error;
    } finally {
      await place.close();
    }
  },
});
