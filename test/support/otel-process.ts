/** Starts OpenTelemetry as a process of a project does: `node otel-process.ts PROJECT`; prints how, and whether spans are recorded. */
import { trace } from '@opentelemetry/api';
import { startOpenTelemetry } from '../../src/cli/project/start-open-telemetry.ts';

const started = await startOpenTelemetry(process.argv[2] as string).catch(
  ({ code, message }) => `${code}: ${message}`,
);
const isRecording = trace.getTracer('test').startSpan('one').isRecording();
console.log(JSON.stringify({ started, isRecording }));
process.exit();
