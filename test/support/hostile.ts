/** A thread that is attacked, and a bystander in the same worker that must not be affected. */
import { expect } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { GARBAGE, type RawPayload, rawSignal } from './raw-payload.ts';
import { eventually, type RuntimeOptions, type TestRuntime, testRuntime } from './runtime.ts';

export interface HostileRuntime extends TestRuntime {
  readonly victim: string;
  readonly bystander: string;
  signal(name: string, payloads?: readonly RawPayload[]): Promise<unknown>;
  /** Reasons of the victim's `item.rejected` events, as `code: reason`. */
  rejections(): Promise<readonly string[]>;
  /** Waits until there are at least `count` rejections. */
  rejected(count: number): Promise<readonly string[]>;
  runIdOf(threadId: string): Promise<string>;
  /** Both threads answer a message, and no workflow task of either has failed; the victim can be ended. */
  expectHealth(): Promise<void>;
}

export const echo = () => scriptedModel((request) => says(`echo ${request.messages.at(-1)?.content}`));

export async function hostileRuntime(options: RuntimeOptions = {}): Promise<HostileRuntime> {
  const runtime = await testRuntime({ model: echo(), ...options });
  const { client, store } = runtime;
  const [victim, bystander] = [await runtime.start(), await runtime.start()];
  const rejections = async () => {
    const events = await store.events.read(victim, 0, 100_000);
    return events
      .filter((event) => event.type === 'item.rejected')
      .map(({ data }) => `${(data as { code: string }).code}: ${(data as { reason: string }).reason}`);
  };
  return {
    ...runtime,
    victim,
    bystander,
    rejections,
    signal: (name, payloads) => rawSignal(client, victim, name, payloads),
    rejected: (count) =>
      eventually(`${count} refusals`, async () => {
        const found = await rejections();
        return found.length >= count && found;
      }),
    runIdOf: async (threadId) =>
      (await client.temporal.workflow.getHandle(`thread/${threadId}`).describe()).runId,
    async expectHealth() {
      for (const thread of [victim, bystander]) {
        await runtime.say(thread, 'are you well?');
        expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: echo are you well?');
        expect(await failedTasks(runtime, thread)).toEqual([]);
      }
      await client.terminate(victim, 'over');
      await eventually('its end', async () => (await client.getThread(victim)).status === 'terminated');
    },
  };
}

/**
 * Returns why workflow tasks of the thread's current run failed; timeouts, which a busy machine can cause, do not
 * count.
 */
async function failedTasks({ client }: TestRuntime, threadId: string): Promise<string[]> {
  const { events } = await client.temporal.workflow.getHandle(`thread/${threadId}`).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed ? [failed.failure?.message ?? String(failed.cause)] : [],
  );
}

export const GARBAGE_COUNT = Object.keys(GARBAGE).length;
