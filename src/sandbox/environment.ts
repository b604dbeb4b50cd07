// The SANDBOX_* variables read to options, every problem at once. It must not start anything.
import { z } from 'zod';
import { DIALECTS } from './wire/conventions.ts';

const flag = z.enum(['', '0', '1']).transform((value) => value === '1');
const text = z.string().min(1);

const variables = z.object({
  SANDBOX_HOST: text.default('127.0.0.1'),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  SANDBOX_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_DATA: text.default('.data/sandbox'),
  SANDBOX_SEED: z.coerce.number().int().min(0).max(4_294_967_295).default(20_260_501),
  SANDBOX_SIZE: z.enum(['full', 'small']).default('full'),
  SANDBOX_DIALECT: z.enum(DIALECTS).default('rich'),
  SANDBOX_SPEED: z.coerce.number().positive().max(1e6).default(1),
  SANDBOX_API_KEYS: z
    .string()
    .transform((keys) =>
      keys
        .split(',')
        .map((key) => key.trim())
        .filter((key) => key !== ''),
    )
    .optional(),
  SANDBOX_CONTROL: flag.default(false),
  SANDBOX_CLOCK: z.enum(['system', 'manual']).default('system'),
  SANDBOX_FASTA: text.optional(),
});

/** The options for `startSandbox`, and whether the clock stands still; or the problems, one line each. */
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
  return {
    options: {
      host: data.SANDBOX_HOST,
      port: data.SANDBOX_PORT,
      seed: data.SANDBOX_SEED,
      size: data.SANDBOX_SIZE,
      dialect: data.SANDBOX_DIALECT,
      speed: data.SANDBOX_SPEED,
      control: data.SANDBOX_CONTROL,
      manualClock: data.SANDBOX_CLOCK === 'manual',
      ...(data.SANDBOX_PUBLIC_URL === undefined ? {} : { publicUrl: data.SANDBOX_PUBLIC_URL }),
      ...(data.SANDBOX_DATA === 'memory' ? {} : { dataDir: data.SANDBOX_DATA }),
      ...(data.SANDBOX_FASTA === undefined ? {} : { fasta: data.SANDBOX_FASTA }),
      ...(apiKeys.length === 0 ? {} : { apiKeys }),
    },
  };
}
