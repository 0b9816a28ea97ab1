/**
 * Starts OpenTelemetry in a process of the project, before its definitions are loaded: by the project's `otel.ts`, else, if an endpoint
 * is set in the environment, the SDK that the project has installed. A project with neither pays for two look-ups of a file.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { createModuleLoader } from '../../definitions/index.ts';
import { ThreadIdGenerator } from '../../otel.ts';

const FILES = ['otel.ts', 'otel.js', 'otel.mjs'];
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const SDK = '@opentelemetry/sdk-node';

/** Returns what was started. Throws `InvalidConfiguration` if the file fails. */
export async function startOpenTelemetry(projectDir: string): Promise<'file' | 'sdk' | 'nothing'> {
  const file = FILES.map((name) => join(projectDir, name)).find(existsSync);
  if (file !== undefined) {
    await loadFile(projectDir, file);
    return 'file';
  }
  return hasOtlpEndpoint() && (await startSdk(projectDir)) ? 'sdk' : 'nothing';
}

export function hasOtlpEndpoint(): boolean {
  return ENDPOINTS.some((name) => process.env[name]?.trim());
}

async function loadFile(projectDir: string, file: string): Promise<void> {
  try {
    const loader = await createModuleLoader(projectDir, {});
    await loader.load(file);
  } catch (cause) {
    throw new RuntimeError(
      'InvalidConfiguration',
      `${file} cannot be loaded, so nothing would be traced: ${errorMessage(cause)}. Correct or remove it.`,
      { cause },
    );
  }
}

/** False if the project has not installed the SDK. */
async function startSdk(projectDir: string): Promise<boolean> {
  const path = findSdk(projectDir);
  if (path === undefined) return false;
  const { NodeSDK } = await import(pathToFileURL(path).href);
  new NodeSDK({ idGenerator: new ThreadIdGenerator() }).start();
  return true;
}

function findSdk(projectDir: string): string | undefined {
  try {
    return createRequire(join(projectDir, '_otel.js')).resolve(SDK);
  } catch {
    return undefined;
  }
}
