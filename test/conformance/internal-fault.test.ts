/** An internal fault never fails a thread's workflow: it leaves an event and a thread at rest, and nothing is lost. */
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { helperRegistry, testRuntime } from '../support/runtime.ts';

describe('an internal fault', () => {
  it('leaves the thread failed, and the next message is answered with the queued ones', async () => {
    const model = scriptedModel([says('all is well')]);
    const sound = helperRegistry({ model });
    let broken = false;
    const registry = () => {
      if (broken) throw new Error('the registry is gone');
      return sound;
    };
    const runtime = await testRuntime({ model, registry });
    const thread = await runtime.start();
    broken = true;
    await runtime.client.queueMessage(thread, { content: 'one' });
    const failed = await runtime.client.waitForIdle(thread);
    expect(failed).toMatchObject({ status: 'failed', lastError: { message: 'the registry is gone' } });
    broken = false;
    await runtime.say(thread, 'two');
    expect(await runtime.transcript(thread)).toEqual(['user: one', 'user: two', 'assistant: all is well']);
  });
});
