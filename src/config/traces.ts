// Whether traces are sent, by the variables that OpenTelemetry specifies and its exporter for OTLP
// does not read. docs/operations.md lists those that work.

export interface TraceSettings {
  readonly isOn: boolean;
  /** One sentence for each variable that is wrong or has no effect; none of them ends the start. */
  readonly warnings: readonly string[];
}

const OFF: TraceSettings = { isOn: false, warnings: [] };
const off = (warning: string): TraceSettings => ({
  isOn: false,
  warnings: [`${warning}; no traces are sent`],
});

/** The first of some variables that is set, with its value. */
const firstSet = (env: Readonly<Record<string, string | undefined>>, ...names: string[]) =>
  names.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : []))[0];

function isHttpUrl(text: string): boolean {
  const { protocol } = URL.canParse(text) ? new URL(text) : {};
  return protocol === 'http:' || protocol === 'https:';
}

/** Reads the variables. @param env - the environment; empty strings count as unset */
export function readTraceSettings(env: Readonly<Record<string, string | undefined>>): TraceSettings {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return OFF;
  const exporter = env.OTEL_TRACES_EXPORTER || undefined;
  const endpoint = firstSet(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (exporter === 'none' || (exporter ?? endpoint) === undefined) return OFF;
  if (exporter !== undefined && exporter !== 'otlp')
    return off(`OTEL_TRACES_EXPORTER: the gateway has no exporter but otlp, not ${exporter}`);
  if (endpoint !== undefined && !isHttpUrl(endpoint.value))
    return off(`${endpoint.name} must be an http(s) URL`);
  const protocol = firstSet(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === undefined || protocol.value === 'http/json') return { isOn: true, warnings: [] };
  if (protocol.value === 'http/protobuf')
    return { isOn: true, warnings: [`${protocol.name}: the gateway sends http/json, not http/protobuf`] };
  return off(`${protocol.name}: the gateway sends http/json only, not ${protocol.value}`);
}
