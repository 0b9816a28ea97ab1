/** Starts OpenTelemetry's SDK in a program of a test, as the `otel.ts` of a project does. Settings: `OTEL_…`. */
import { NodeSDK } from '@opentelemetry/sdk-node';
import { ThreadIdGenerator } from '../../src/otel.ts';

new NodeSDK({ idGenerator: new ThreadIdGenerator(), autoDetectResources: false }).start();
