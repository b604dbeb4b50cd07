// The settings that the contract leaves to a deployment and a client must be told: prefixes, names,
// forms. The same in both dialects; one schema checks the options of `startSandbox` and the
// environment.
import { z } from 'zod';

const prefix = z.string().regex(/^(\/[A-Za-z0-9._~-]{1,64}){1,8}$/, {
  error: 'must be a path without a slash at its end, such as /api/v1/batch',
});
const field = z.string().regex(/^[A-Za-z_]\w{0,63}$/, { error: 'must be the name of a JSON field' });

/** Keys beside the configured ones; a configured one must not hide them. */
const LIST_REQUEST = ['batch_id', 'include_responses', 'status'];
const LIST_ANSWER = [
  'batch_id',
  'status',
  'counts',
  'cursor',
  'created_at',
  'expires_at',
  'results_expire_at',
];
const LIST_ITEM = ['status', 'response', 'response_available', 'error'];

const fields = z.strictObject({
  batchPrefix: prefix.default('/api/v1/batch'),
  atlasPrefix: prefix.default('/atlas/protein/api/v1alpha1'),
  /** Values of `model` that Submit takes. */
  models: z.array(z.string().min(1).max(200)).min(1).default(['foldmodel2-2026-05-cutoff-2025']),
  /** Request field of List: the page size. */
  listLimitField: field.default('limit'),
  /** Request field of List: the cursor. */
  listCursorField: field.default('cursor'),
  /** Answer field of List: the items of the page. */
  listItemsField: field.default('items'),
  /** Answer field of an item of List: the id of its task. */
  listTaskIdField: field.default('task_id'),
  /**
   * Where the text of a refusal stands; absent: where the dialect has it, a `detail` in the Atlas.
   */
  errorText: z.enum(['message', 'error', 'detail']).optional(),
  /**
   * Whether every member of an archive has its sizes behind it, or only those that are made while
   * they are sent.
   */
  zipDescriptors: z.boolean().default(false),
  /** A bulk look-up of more unique hashes becomes a job. */
  jobThreshold: z.int().min(0).max(500).default(100),
});

export type WireSettings = Readonly<z.output<typeof fields>>;
export type WireOptions = Partial<WireSettings>;

const RESERVED = ['/control', '/downloads'];
const isBelow = (path: string, other: string): boolean => `${path}/`.startsWith(`${other}/`);

/** The settings that do not go together, as a path and a message each. */
function conflicts(wire: WireSettings): [keyof WireSettings, string][] {
  const { batchPrefix, atlasPrefix, listLimitField } = wire;
  const found: [keyof WireSettings, string][] = [];
  if (isBelow(batchPrefix, atlasPrefix) || isBelow(atlasPrefix, batchPrefix))
    found.push(['atlasPrefix', 'must not lie below the Batch prefix, nor the Batch prefix below it']);
  for (const name of ['batchPrefix', 'atlasPrefix'] as const)
    if (RESERVED.some((path) => isBelow(wire[name], path)))
      found.push([
        name,
        `must not begin with ${RESERVED.join(' or ')}, where the sandbox has routes of its own`,
      ]);
  const taken: [keyof WireSettings, readonly string[]][] = [
    ['listLimitField', LIST_REQUEST],
    ['listCursorField', [...LIST_REQUEST, listLimitField]],
    ['listItemsField', LIST_ANSWER],
    ['listTaskIdField', LIST_ITEM],
  ];
  for (const [name, names] of taken)
    if (names.includes(String(wire[name]))) found.push([name, `must differ from ${names.join(', ')}`]);
  return found;
}

/** The settings with their defaults, and every rule between them. */
export const wireSettings = fields.superRefine((wire, context) => {
  for (const [name, message] of conflicts(wire)) context.addIssue({ code: 'custom', path: [name], message });
});

/** Settings that are wrong, or do not go together. */
class WireSettingsError extends Error {
  override readonly name = 'WireSettingsError';
}

/** @throws WireSettingsError that names every setting that is wrong */
export function readWireSettings(options: WireOptions): WireSettings {
  const result = wireSettings.safeParse(options);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new WireSettingsError(`the sandbox's wire settings: ${problems.join('; ')}`);
}
