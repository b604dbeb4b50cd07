// foldatlas fold: submits, follows and saves. Each step can be resumed later by the batch's id.
import { setTimeout as sleep } from 'node:timers/promises';
import { plainText } from '../plain-text.ts';
import type { TaskCounts } from '../upstream/folds/batch-states.ts';
import { command, flag, option, word } from './command.ts';
import { checkFolder, makeFolder, openResultSaver } from './fold-save.ts';
import { readFoldInput, submitFold } from './fold-submit.ts';
import { type Answer, connect, errorLines, type GatewayTarget, TARGET_ARGS } from './gateway-client.ts';
import { CliExit, EXIT, readInput, type Session } from './session.ts';

const WATCH = `subscription Watch($batchId: ID!) {
  batchProgress(batchId: $batchId) {
    final
    estimatedSecondsLeft
    batch { counts { total queued inProgress done failed cancelled } }
    changedTasks { taskId name status error { message } }
  }
}`;

export interface ChangedTask {
  readonly taskId: string;
  readonly name: string | null;
  readonly status: string;
  readonly error: { readonly message: string } | null;
}

interface Progress {
  readonly final: boolean;
  readonly estimatedSecondsLeft: number | null;
  readonly batch: { readonly counts: TaskCounts };
  readonly changedTasks: readonly ChangedTask[];
}

export interface WatchOptions {
  readonly onTasks: (tasks: readonly ChangedTask[]) => void;
  readonly saved: () => number;
}

const timeText = (seconds: number): string =>
  seconds < 90
    ? `about ${seconds} s left`
    : seconds < 5400
      ? `about ${Math.round(seconds / 60)} min left`
      : `about ${Math.round(seconds / 3600)} h left`;

const WIDTH = 28;

const settledOf = ({ done, failed, cancelled }: TaskCounts): number => done + failed + cancelled;

function countsText(counts: TaskCounts): string {
  const { total, queued, inProgress: running, done, failed, cancelled } = counts;
  const others = Object.entries({ failed, cancelled, running, queued }).filter(([, count]) => count > 0);
  const words = others.map(([word, count]) => `${count} ${word}`);
  return [`${settledOf(counts)}/${total}`, `${done} done`, ...words].join(' · ');
}

function bar(counts: TaskCounts): string {
  const full = counts.total === 0 ? 0 : Math.round((settledOf(counts) / counts.total) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
}

/** How often a stream that ends early is opened again without news in between: for about 4 minutes. */
const MAX_TRIES = 14;
const MAX_PAUSE_MS = 30_000;

function show(session: Session, progress: Progress, saved: number, before: string): string {
  const { batch, changedTasks, estimatedSecondsLeft, final } = progress;
  const text = [
    countsText(batch.counts),
    ...(saved > 0 ? [`${saved} saved`] : []),
    ...(estimatedSecondsLeft === null || final ? [] : [timeText(estimatedSecondsLeft)]),
  ].join(' · ');
  for (const { status, name, taskId, error } of changedTasks) {
    const reason = error?.message ?? 'no reason given';
    if (status === 'FAILED') session.say(plainText(`failed: ${name ?? taskId}: ${reason}`));
  }
  if (session.terminal) session.live(`${bar(batch.counts)} ${text}`);
  else if (text !== before) session.say(text);
  return text;
}

const progressOf = (answer: Answer): Progress | undefined =>
  (answer.data as { batchProgress?: Progress | null } | null | undefined)?.batchProgress ?? undefined;

async function watchBatch(
  place: GatewayTarget,
  session: Session,
  batchId: string,
  { onTasks, saved }: WatchOptions,
): Promise<void> {
  let before = '';
  let lasting = false;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const pause = Math.min(500 * 2 ** tries, MAX_PAUSE_MS);
    if (tries > 0) await sleep(pause, undefined, { signal: session.signal });
    try {
      for await (const answer of place.watch(WATCH, { batchId })) {
        const progress = progressOf(answer);
        if (progress === undefined) {
          const lines = errorLines(answer);
          lasting = answer.errors?.some(({ extensions }) => extensions?.retryable !== true) === true;
          if (lasting) throw new CliExit(EXIT.unreachable, lines.join('\n'));
          for (const line of lines) session.say(line);
          continue;
        }
        tries = 0;
        onTasks(progress.changedTasks);
        before = show(session, progress, saved(), before);
        if (progress.final) return session.live('');
      }
    } catch (error) {
      // A failed first connection is reported at once; later the gateway may come back.
      if (session.signal.aborted || (error instanceof CliExit && (lasting || before === ''))) throw error;
      session.say('The stream broke off; opening it again.');
    }
  }
  throw new CliExit(EXIT.unreachable, 'The batch cannot be followed any more.');
}

/** Options as they are written in a shell. */
const optionsOf = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isPlain = /^[\w%+,./:=@-]+$/.test(value);
    return `--${name} ${isPlain ? value : `'${value.replaceAll("'", `'\\''`)}'`}`;
  });

export default command({
  name: 'fold',
  summary: 'Submits folds, follows them, saves results, structures and a ranking',
  args: {
    file: word(false, 'Submission as YAML or JSON, or FASTA; - for standard input'),
    watch: flag('Follow it to its end and save each result when it is there'),
    out: option('DIR', 'Folder for the results of this batch (foldatlas-BATCH when not given)'),
    batch: option('ID', 'Take up this batch instead of submitting: follow it and save its results'),
    label: option('TEXT', 'Name of the batch, in place of the one in the file'),
    repeat: option('N', 'How many times each item is folded, 1 to 2000'),
    model: option('NAME', 'Model that folds, in place of the default'),
    pae: flag('Also predict the aligned error of every item'),
    again: option('WORD', 'A word that makes the same file another submission, paid for again'),
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
    ['foldatlas fold mended.yaml --watch', 'A file with only the items that failed, mended'],
    ['foldatlas fold designs.fasta --label round-1 --repeat 2 --pae --watch', 'Options in place of the file'],
    [
      'foldatlas fold complex.yaml --again second',
      'The same once more; without --again the same gateway never pays twice',
    ],
  ],
  exits: [
    [EXIT.ok, 'submitted, or with --watch: every task is done and saved'],
    [EXIT.notAllGood, 'some tasks failed, were cancelled or could not be saved; they are listed'],
    [EXIT.unreachable, 'the gateway cannot be reached, or the service refuses'],
    [
      EXIT.usage,
      'the command line is wrong, the file cannot be read, or the folder has the results of another batch',
    ],
    [EXIT.data, 'the file cannot be folded; every mistake is listed, nothing was sent'],
    [EXIT.interrupted, 'interrupted; the batch continues, and the command to watch it again is printed'],
  ],
  async run(args, session) {
    const { file, watch, out, batch, again, label, repeat, model, pae, url } = args;
    const { 'token-file': tokenFile } = args;
    if ((file === undefined) === (batch === undefined))
      throw new CliExit(
        EXIT.usage,
        'Give a file to submit, or --batch ID to take up. See foldatlas fold --help.',
      );
    const options = { label, repeat, model, pae, again };
    const given = Object.entries(options).find(([, value]) => value !== undefined);
    if (file === undefined && given !== undefined)
      throw new CliExit(EXIT.usage, `--${given[0]} belongs to a file, and --batch submits none.`);
    const input = file === undefined ? undefined : readFoldInput(await readInput(file), options);
    const submission = input?.idempotencyKey;
    if (submission !== undefined && out !== undefined) checkFolder(out, submission);
    if (input !== undefined && watch === true) makeFolder(out ?? '.');
    const place = await connect(session, { url, tokenFile });
    let batchId = batch;
    // An id on the command line may be wrong.
    let isThere = false;
    const resume = () =>
      ['foldatlas fold', ...optionsOf({ batch: batchId, out, url, 'token-file': tokenFile })].join(' ');
    try {
      if (input !== undefined) {
        batchId = await submitFold(place, session, input);
        isThere = true;
        await session.out(`${batchId}\n`);
      }
      if (batchId === undefined || (input !== undefined && watch !== true)) {
        session.say(`Follow it with: ${resume()}`);
        return EXIT.ok;
      }
      const folder = out ?? `foldatlas-${batchId}`;
      const saver = await openResultSaver(place, session, batchId, folder, submission);
      isThere = true;
      await watchBatch(place, session, batchId, { onTasks: saver.take, saved: () => saver.saved });
      const without = await saver.finish();
      for (const line of without) session.say(`without a result: ${line}`);
      session.say(`Results and scores.tsv are in ${folder}.`);
      return without.length > 0 ? EXIT.notAllGood : EXIT.ok;
    } catch (error) {
      if (
        batchId !== undefined &&
        (session.interruption() !== undefined ||
          (isThere && error instanceof CliExit && error.exit === EXIT.unreachable))
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
