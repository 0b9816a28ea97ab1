/** The ceiling of model calls of a family, on the engine (store/budget/account.ts). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { calls } from '../../src/testing/index.ts';
import { childProject, handsIn, modelOf } from '../support/child-project.ts';
import { eventsOf } from '../support/effects.ts';
import { closeAfterTest, testRuntime } from '../support/runtime.ts';

describe('a family of endlessly calling models without budgets', () => {
  it('[PL-17] is ended at the limit of its calls, and its next message starts a new count', async () => {
    const folder = process.env.EVERTHREAD_TEST_FOLDER as string;
    const store = await openStore(`sqlite:${randomUUID()}.db`, folder, { familyCalls: 6 });
    closeAfterTest(() => store.close());
    const model = modelOf({ main: () => calls('scribe'), scribe_desk: () => handsIn('done') });
    const entries = [{ name: 'scribe', blocking: true }];
    const registry = childProject({ model, entries, children: { scribe: {} } });
    const runtime = await testRuntime({ store, registry });
    const thread = await runtime.start('go');
    const exceeded = { data: { limit: 'familyCalls', max: 6 } };
    expect(await eventsOf(runtime, thread, 'budget.exceeded')).toMatchObject([exceeded]);
    // It is counted once the execution has a child, which its first call makes.
    expect(model.requests).toHaveLength(1 + 6);
    const message = expect.stringContaining('EVERTHREAD_FAMILY_CALLS');
    expect(await eventsOf(runtime, thread, 'step.failed')).toMatchObject([
      { data: { code: 'BudgetExceeded', message } },
    ]);
    await runtime.say(thread, 'again');
    expect(model.requests).toHaveLength(2 * (1 + 6));
    expect(await eventsOf(runtime, thread, 'budget.exceeded')).toMatchObject([exceeded, exceeded]);
  });
});
