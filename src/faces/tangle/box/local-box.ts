/**
 * A box of this process, for sessions whose turns code of this process produces: it has the worker and the agent that
 * such sessions need, and asks no model. A later process that opens it under the same name has the same sessions.
 */
import { RuntimeError } from '../../../core/value/error.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../../definitions/index.ts';
import { type EngineOptions, openInProcess } from '../../../worker/in-process.ts';
import { createIterableBackend } from '../backend/backend.ts';
import { backendProvider } from '../backend/provider.ts';
import { clientBox } from './client-box.ts';
import type { Box, BoxEvent } from './remote-box.ts';

export interface LocalBoxOptions extends EngineOptions {
  /** Name of the agent of its sessions; `chat` unless given. */
  readonly name?: string;
}

export interface LocalBox extends Box<BoxEvent> {
  /** Ends the worker; turns that are being produced are lost. */
  close(): Promise<void>;
}

/**
 * Throws what `createWorker` and `RuntimeClient.connect` throw. A prompt that nothing
 * produces is `InvalidConfiguration`.
 * @example
 * ```ts
 * const box = await localBox();
 * const identity = { tenantId: 'acme', sessionId: 'session-7', userId: 'ada', turnIndex: 0 };
 * const produce = () => ({ stream: (async function* () {})(), finalText: () => 'Hello.' });
 * const { body } = handleChatTurn({ box, identity, message: 'hello', hooks: { produce } });
 * console.log(await new Response(body).text());
 * await box.close();
 * ```
 */
export async function localBox({ name = 'chat', ...options }: LocalBoxOptions = {}): Promise<LocalBox> {
  const registry = registryFrom({
    agents: [defineAgent({ name, sideA: { prompt: 'produced' } })],
    prompts: [
      definePrompt({
        name: 'produced',
        toolDescription: 'Answers with what a program produces.',
        prompt: '',
        model: 'none',
        includeChat: true,
      }),
    ],
    models: [
      defineModel({
        name: 'none',
        provider: backendProvider(createIterableBackend(() => [])),
        model: 'none',
      }),
    ],
  });
  // No task's queue has a slash.
  const engine = await openInProcess(registry, { taskQueue: `tangle-box/${name}`, ...options });
  const box = clientBox(engine.client, { agent: name });
  return {
    ...box,
    streamPrompt(message, prompt) {
      if (prompt?.produce) return box.streamPrompt(message, prompt);
      throw new RuntimeError(
        'InvalidConfiguration',
        'Nothing answers in a local box: pass "agent" or the hook "produce" to `handleChatTurn`, or use a box with an agent.',
      );
    },
    close: () => engine.close(),
  };
}
