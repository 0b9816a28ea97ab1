/**
 * Exports one span, as the processes of the project would, and says what became of it. A process registers its SDK once:
 * so this runs once, and last.
 * - Bounded, whatever the endpoint does.
 */
import { isRuntimeError } from '../../core/value/error.ts';
import { MAX_TRIES, type Trial, tryExport } from '../../worker/telemetry/trial-span.ts';
import { hasOtlpEndpoint, startOpenTelemetry } from '../project/start-open-telemetry.ts';
import { type Check, fail, ok, warn } from './check.ts';
import { type OtlpAnswer, type OtlpEndpoint, probeOtlp } from './otlp-probe.ts';

const NAME = 'telemetry';

/** Undefined if OpenTelemetry is not set up. */
export async function checkTelemetry(projectDir: string): Promise<Check | undefined> {
  try {
    const started = await startOpenTelemetry(projectDir);
    if (started === 'nothing') return hasOtlpEndpoint() ? checkAbsentSdk() : undefined;
  } catch (error) {
    if (!isRuntimeError(error)) throw error;
    return fail(NAME, error.message, 'Nothing of this project starts until then.');
  }
  return explainTrial(await tryExport());
}

async function explainTrial(trial: Trial): Promise<Check> {
  switch (trial.kind) {
    case 'no SDK': {
      const next = 'Call start() of the NodeSDK in it (docs/observability.md), or remove it.';
      return fail(NAME, 'the otel file of the project was loaded, and registers no SDK', next);
    }
    case 'sampled out': {
      const sampler = process.env.OTEL_TRACES_SAMPLER;
      const why = sampler ? `OTEL_TRACES_SAMPLER is ${sampler}` : 'the sampler of the otel file';
      return warn(
        NAME,
        `none of ${MAX_TRIES} traces was sampled (${why}), so nothing was exported`,
        'Unset OTEL_TRACES_SAMPLER, or raise its OTEL_TRACES_SAMPLER_ARG, to see traces.',
      );
    }
    case 'exported': {
      const took = `${readEndpoint()?.url.href ?? 'the exporter of the otel file'} took one span`;
      if (trial.hasOwnIds) return ok(NAME, took);
      return warn(
        NAME,
        `${took}, but the SDK makes ids of its own, so the spans of an execution have no common tree`,
        'Give the SDK `idGenerator: new ThreadIdGenerator()` of everthread/otel.',
      );
    }
    case 'failed':
      return explainFailure(trial);
  }
}

function checkAbsentSdk(): Check {
  return warn(
    NAME,
    'an OTLP endpoint is set, and no SDK: nothing is exported',
    'npm install @opentelemetry/sdk-node, or put an otel.ts beside agents/.',
  );
}

async function explainFailure({ why, code }: Extract<Trial, { kind: 'failed' }>): Promise<Check> {
  const endpoint = readEndpoint();
  if (!endpoint)
    return fail(NAME, `the exporter of the otel file failed: ${why}`, 'Check the endpoint in that file.');
  const isStatus = endpoint.protocol === 'http' && code !== undefined && code >= 400;
  const answer: OtlpAnswer = isStatus ? { kind: 'http', status: code } : await probeOtlp(endpoint);
  const [message, next] = explainAnswer(endpoint, answer, why);
  return fail(NAME, `${endpoint.url.href} ${message}`, next);
}

/** What the endpoint did, and the remedy. */
function explainAnswer(
  { url, protocol }: OtlpEndpoint,
  answer: OtlpAnswer,
  said: string,
): readonly [message: string, next: string] {
  switch (answer.kind) {
    case 'unreachable':
      return [
        `cannot be reached: ${answer.why}`,
        'Start the receiver, or correct OTEL_EXPORTER_OTLP_ENDPOINT.',
      ];
    case 'silent':
      return [
        'takes the connection and does not answer',
        'Look at the receiver, and at what is between. Threads do not wait for it; their spans are lost.',
      ];
    case 'neither':
      return [
        'closes the connection: it speaks neither gRPC nor HTTP, or only with TLS',
        'Check the port, and whether the address has to begin with https://.',
      ];
    case 'grpc':
      return protocol === 'grpc'
        ? [`speaks gRPC, and did not take the span: ${said}`, 'Look at the log of the receiver.']
        : [
            'speaks gRPC, and the exporter HTTP',
            `Set the port for HTTP (${withPort(url, '4317', '4318')}), or OTEL_EXPORTER_OTLP_PROTOCOL=grpc.`,
          ];
    case 'http':
      return protocol === 'grpc'
        ? [
            'speaks HTTP, and the exporter gRPC',
            `Set the port for gRPC (${withPort(url, '4318', '4317')}), or OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.`,
          ]
        : explainStatus(answer.status, said);
  }
}

function withPort({ host }: URL, from: string, to: string): string {
  return host.endsWith(`:${from}`) ? `${host.slice(0, -from.length)}${to}` : `usually ${to}`;
}

function explainStatus(status: number, said: string): readonly [message: string, next: string] {
  if (status === 401 || status === 403)
    return [`answers ${status}: it does not accept the key`, 'Check OTEL_EXPORTER_OTLP_HEADERS.'];
  if (status === 404 || status === 405)
    return [
      `answers ${status}: traces have another path there`,
      'OTEL_EXPORTER_OTLP_ENDPOINT gets /v1/traces added; OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is taken as it is.',
    ];
  if (status >= 500 || status === 429)
    return [
      `answers ${status}: the receiver is in trouble or full`,
      'Look at its log. Threads do not wait for it.',
    ];
  if (status >= 400) return [`answers ${status}: ${said}`, 'Look at the log of the receiver.'];
  return [
    `answers ${status} to an empty export, and did not take the span: ${said}`,
    'Look at the log of the receiver.',
  ];
}

/** As the SDK reads the environment; undefined if only the otel file knows. */
function readEndpoint(env: NodeJS.ProcessEnv = process.env): OtlpEndpoint | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const shared = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const named = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? '';
  const protocol = named.trim() === 'grpc' ? 'grpc' : 'http';
  const text = own || (shared && protocol === 'http' ? `${shared.replace(/\/$/, '')}/v1/traces` : shared);
  if (!text) return undefined;
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) return undefined;
  const given = env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? '';
  const pairs = given.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([\w-]+)\s*=([^\r\n]*)$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name, decode(value.trim())] as const];
  });
  return { url: new URL(address), protocol, headers: Object.fromEntries(pairs) };
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value).replace(/[\r\n]/g, '');
  } catch {
    return value;
  }
}
