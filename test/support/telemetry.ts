/** OpenTelemetry's own SDK in the process of a test, which sends to a receiver there. */
import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { ThreadIdGenerator } from '../../src/otel.ts';
import { type OtlpReceiver, receiveOtlp } from './otlp-receiver.ts';
import { closeAfterTest } from './runtime.ts';

const saved = { ...process.env };
let sdk: NodeSDK | undefined;

/** After each test: the SDK is shut down and registered no more. */
export async function endTelemetry(): Promise<void> {
  await sdk?.shutdown().catch(() => undefined);
  sdk = undefined;
  trace.disable();
  process.env = { ...saved };
}

/** Starts the SDK as a project's `otel.ts` does. */
export function startSdk(
  receiver: OtlpReceiver,
  idGenerator: ThreadIdGenerator | null = new ThreadIdGenerator(),
): void {
  process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = receiver.url;
  process.env.OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json';
  process.env.OTEL_METRICS_EXPORTER = 'none';
  process.env.OTEL_LOGS_EXPORTER = 'none';
  sdk = new NodeSDK({ ...(idGenerator ? { idGenerator } : {}), autoDetectResources: false });
  sdk.start();
}

export async function openReceiver(): Promise<OtlpReceiver> {
  const opened = await receiveOtlp();
  closeAfterTest(opened.close);
  return opened;
}

export const rootsOf = ({ spans }: OtlpReceiver) => spans.filter(({ parentSpanId }) => !parentSpanId);
