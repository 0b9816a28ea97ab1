/** A small life of a thread whose history is kept. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Registry } from '../../src/core/author/definition.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import type { RuntimeOptions } from '../support/runtime.ts';

export interface Scenario {
  readonly model: () => ScriptedModel;
  readonly options?: RuntimeOptions;
  /** Where one agent with one prompt is not enough. */
  readonly registry?: (model: ScriptedModel) => Registry;
  live(client: RuntimeClient, threadId: string): Promise<void>;
}

export async function say(client: RuntimeClient, threadId: string, content: string): Promise<void> {
  await client.queueMessage(threadId, { content });
  await client.waitForIdle(threadId);
}
