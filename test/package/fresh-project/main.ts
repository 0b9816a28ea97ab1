import {
  type ConnectOptions,
  type DefinitionError,
  isDefinitionError,
  loadProject,
  openStore,
  type Registry,
  RuntimeClient,
  registryFrom,
  type ThreadStore,
} from 'everthread';
import type { ProviderFactory } from 'everthread/models';
import { createEndpointHandler } from 'everthread/server';
import { says, scriptedModel } from 'everthread/testing';
import { createWorker } from 'everthread/worker';
import desk from './agents/agents/desk.js';
import findOrder from './agents/tools/find_order.js';

/** Every type that is inferred here can be named in the declarations of this file. */
export const script = scriptedModel([says('hello')]);
export const provider: ProviderFactory = script.provider;
export const registry: Registry = registryFrom({ agents: [desk], tools: { find_order: findOrder } });
export const project = loadProject(import.meta.dirname);
export const store = openStore('sqlite:threads.db', import.meta.dirname);

export async function open(given: ThreadStore) {
  const options: ConnectOptions = { store: given };
  const client = await RuntimeClient.connect(options);
  const worker = await createWorker({ projectDir: import.meta.dirname, store: given, registry });
  const endpoints = await createEndpointHandler({ client, registry });
  return { client, worker, endpoints };
}

export const problemsOf = (error: unknown): DefinitionError['problems'] =>
  isDefinitionError(error) ? error.problems : [];
