// The SANDBOX_* variables read to options, every problem at once. It must not start anything.
import { z } from 'zod';
import { DIALECTS } from './wire/conventions.ts';
import { type WireOptions, wireSettings } from './wire/settings.ts';

const flag = z.enum(['', '0', '1']).transform((value) => value === '1');
const text = z.string().min(1);
const commaList = z.string().transform((all) =>
  all
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== ''),
);

const variables = z.object({
  SANDBOX_HOST: text.default('127.0.0.1'),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  SANDBOX_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_DATA: text.default('.data/sandbox'),
  SANDBOX_SEED: z.coerce.number().int().min(0).max(4_294_967_295).default(20_260_501),
  SANDBOX_SIZE: z.enum(['full', 'small']).default('full'),
  SANDBOX_DIALECT: z.enum(DIALECTS).default('plain'),
  SANDBOX_SPEED: z.coerce.number().positive().max(1e6).default(1),
  SANDBOX_API_KEYS: commaList.optional(),
  SANDBOX_CONTROL: flag.default(false),
  SANDBOX_CLOCK: z.enum(['system', 'manual']).default('system'),
  SANDBOX_FASTA: text.optional(),
  SANDBOX_BATCH_PREFIX: text.optional(),
  SANDBOX_ATLAS_PREFIX: text.optional(),
  SANDBOX_MODELS: commaList.optional(),
  SANDBOX_LIST_LIMIT_FIELD: text.optional(),
  SANDBOX_LIST_CURSOR_FIELD: text.optional(),
  SANDBOX_LIST_ITEMS_FIELD: text.optional(),
  SANDBOX_LIST_TASK_ID_FIELD: text.optional(),
  SANDBOX_ERROR_TEXT: text.optional(),
  SANDBOX_ZIP_DESCRIPTORS: flag.optional(),
  SANDBOX_JOB_THRESHOLD: z.coerce.number().optional(),
  SANDBOX_PAE_ROWS: z.enum(['token', 'atom']).default('token'),
  SANDBOX_ENTITY_FORM: z.enum(['kind', 'polymer']).default('kind'),
  SANDBOX_ATOM_FORM: z.enum(['full', 'sparse']).default('full'),
});

/** The setting of the wire that a variable sets. */
const WIRE_SETTINGS = {
  SANDBOX_BATCH_PREFIX: 'batchPrefix',
  SANDBOX_ATLAS_PREFIX: 'atlasPrefix',
  SANDBOX_MODELS: 'models',
  SANDBOX_LIST_LIMIT_FIELD: 'listLimitField',
  SANDBOX_LIST_CURSOR_FIELD: 'listCursorField',
  SANDBOX_LIST_ITEMS_FIELD: 'listItemsField',
  SANDBOX_LIST_TASK_ID_FIELD: 'listTaskIdField',
  SANDBOX_ERROR_TEXT: 'errorText',
  SANDBOX_ZIP_DESCRIPTORS: 'zipDescriptors',
  SANDBOX_JOB_THRESHOLD: 'jobThreshold',
} as const satisfies Partial<Record<keyof z.output<typeof variables>, keyof WireOptions>>;

/** The settings of the wire; or the problems, by the names of their variables. */
function readWire(data: z.output<typeof variables>) {
  const named = Object.entries(WIRE_SETTINGS);
  const given = new Map<string, unknown>(Object.entries(data));
  const result = wireSettings.safeParse(
    Object.fromEntries(named.map(([variable, setting]) => [setting, given.get(variable)])),
  );
  if (result.success) return { wire: result.data };
  const toVariable = (setting: PropertyKey | undefined): string =>
    named.find(([, name]) => name === setting)?.[0] ?? String(setting);
  return { problems: result.error.issues.map(({ path, message }) => `${toVariable(path[0])}: ${message}`) };
}

/**
 * The options for `startSandbox`, whether the clock stands still, and a warning for each name that
 * is no setting; or the problems.
 */
export function readEnvironment(env: Record<string, string | undefined>) {
  const result = variables.safeParse(env);
  if (!result.success)
    return { problems: result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) };
  const { data } = result;
  const apiKeys = data.SANDBOX_API_KEYS ?? [];
  if (data.SANDBOX_CLOCK === 'manual' && !data.SANDBOX_CONTROL)
    return {
      problems: ['SANDBOX_CLOCK: a manual clock is advanced by a control route; set SANDBOX_CONTROL=1 too'],
    };
  const reading = readWire(data);
  if ('problems' in reading) return { problems: reading.problems };
  const strange = Object.keys(env).filter(
    (name) => name.startsWith('SANDBOX_') && !Object.hasOwn(variables.shape, name),
  );
  return {
    warnings: strange.map((name) => `${name}: there is no such setting, so it has no effect`),
    options: {
      wire: reading.wire,
      host: data.SANDBOX_HOST,
      port: data.SANDBOX_PORT,
      seed: data.SANDBOX_SEED,
      size: data.SANDBOX_SIZE,
      dialect: data.SANDBOX_DIALECT,
      speed: data.SANDBOX_SPEED,
      control: data.SANDBOX_CONTROL,
      resultForm: {
        rows: data.SANDBOX_PAE_ROWS,
        entities: data.SANDBOX_ENTITY_FORM,
        atoms: data.SANDBOX_ATOM_FORM,
      },
      manualClock: data.SANDBOX_CLOCK === 'manual',
      ...(data.SANDBOX_PUBLIC_URL === undefined ? {} : { publicUrl: data.SANDBOX_PUBLIC_URL }),
      dataDir: data.SANDBOX_DATA,
      ...(data.SANDBOX_FASTA === undefined ? {} : { fasta: data.SANDBOX_FASTA }),
      ...(apiKeys.length === 0 ? {} : { apiKeys }),
    },
  };
}
