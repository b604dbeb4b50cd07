// File names for the tasks of a batch, in its archive of results and its table of scores.
import { normalForm } from '../../../plain-text.ts';

export interface NamedTask {
  readonly taskId: string;
  readonly name: string | null;
  readonly inputIndex: number | null;
  readonly repeatIndex: number | null;
}

const byTaskId = (a: NamedTask, b: NamedTask): number => (a.taskId < b.taskId ? -1 : 1);

/** Names that Windows keeps for devices, whatever the ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i;

/**
 * A file name that every system takes: letters, marks and digits of any script, composed as Linux
 * and Windows have them. 80 units of UTF-16 are at most 240 bytes, which leaves room for endings.
 */
const plainFileName = (name: string): string =>
  normalForm(name, 'NFC')
    .replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 80)
    // Half of a letter, where the cut fell into one.
    .replace(/\p{Cs}$/u, '')
    .replace(DEVICE, '$&_') || 'item';

/** The same for names that are one file where case does not count, such as on macOS and Windows. */
const foldCase = (name: string): string => name.toLowerCase().toUpperCase();

/**
 * File names without ending, one per task: the item's name, with a suffix where several share it.
 */
export function fileNames(tasks: readonly NamedTask[]): string[] {
  const hasRepeats = tasks.some(({ repeatIndex }) => (repeatIndex ?? 0) > 0);
  // The archive has a manifest.json of its own, and a folder of the Python client a foldatlas.json.
  const taken = new Set<string>(['MANIFEST', 'FOLDATLAS']);
  const names = new Map<string, string>();
  // In the order of the submission: List may answer in another one each time.
  for (const { name, inputIndex, repeatIndex, taskId } of tasks.toSorted(byTaskId)) {
    const plain = plainFileName(name ?? (inputIndex === null ? taskId : `item${inputIndex}`));
    const base = `${plain}${hasRepeats && repeatIndex !== null ? `_${repeatIndex}` : ''}`;
    let free = base;
    for (let n = 2; taken.has(foldCase(free)); n += 1) free = `${base}-${n}`;
    taken.add(foldCase(free));
    names.set(taskId, free);
  }
  return tasks.map(({ taskId }) => names.get(taskId) ?? taskId);
}
