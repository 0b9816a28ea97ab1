/** A short scenario with one thread, whose history is kept. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import type { RuntimeOptions } from '../support/runtime.ts';

export interface Scenario {
  readonly model: () => ScriptedModel;
  readonly options?: RuntimeOptions;
  /** For scenarios that need more than one agent with one prompt. */
  readonly registry?: (model: ScriptedModel) => Registry;
  live(client: RuntimeClient, threadId: string): Promise<void>;
}

export async function say(client: RuntimeClient, threadId: string, content: string): Promise<void> {
  await client.queueMessage(threadId, { content });
  await client.waitForIdle(threadId);
}
