/** Opens what the workers need: a Temporal service and, without a key, a model; each with a function that ends it. */
import { join } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createModuleLoader } from '../../src/definitions/module-loader.ts';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { prepareService } from '../../src/temporal-service/prepare-service.ts';
import { startLocalServer } from '../../src/temporal-service/start-server.ts';
import { type ScriptFunction, scriptedModel } from '../../src/testing/index.ts';

type Tell = (line: string) => void;

export interface TemporalService {
  readonly address: string;
  readonly namespace: string;
  /** Undefined for a service that the user has configured. */
  readonly uiUrl: string | undefined;
  /** True if the demo started the service. */
  readonly isOwn: boolean;
  stop(): Promise<void>;
}

/** Opens the service that the user has configured, else starts one for the demo on free ports. */
export async function openTemporal(folder: string, tell: Tell): Promise<TemporalService> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const { address } = connectionOptions;
  if (address === undefined) return startTemporal(folder, tell);
  const refusal = await prepareService({ ...connectionOptions, address } as never, namespace, tell);
  if (refusal)
    throw new Error(
      `The Temporal service at ${address} cannot be used: ${refusal}. Correct or unset TEMPORAL_ADDRESS.`,
    );
  tell(`your Temporal service at ${address}, namespace ${namespace}`);
  return { address, namespace, uiUrl: undefined, isOwn: false, stop: async () => {} };
}

async function startTemporal(folder: string, tell: Tell): Promise<TemporalService> {
  const binary = await findTemporalBinary({ progress: tell });
  const server = await startLocalServer({
    binary: binary.path,
    dbFile: join(folder, 'temporal.db'),
    log: join(folder, 'temporal.log'),
  });
  tell(`Temporal ${binary.version.server} at ${server.address}, Web UI at ${server.uiUrl}`);
  const { address, namespace, uiUrl } = server;
  return { address, namespace, uiUrl, isOwn: true, stop: () => server.stop() };
}

/** Serves the librarian's script as an OpenAI-compatible server: it outlives every worker, as a real provider would. */
export async function serveLibrarian(projectDir: string): Promise<{ url: string; close(): Promise<void> }> {
  // Loaded as a worker loads it, so that `import … from 'everthread/testing'` resolves to the same module.
  const loader = await createModuleLoader(projectDir, {});
  const { value: script } = await loader.load(join(projectDir, 'agents', 'models', '_script.ts'));
  return scriptedModel(script.followScript as ScriptFunction).serve();
}
