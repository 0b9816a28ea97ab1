/** What somebody wants to know about a thread that did something odd, answered from the page alone. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { defineTool } from '../../src/definitions/index.ts';
import {
  calls,
  disconnects,
  fails,
  type RecordedRequest,
  type ScriptStep,
  says,
} from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { eventually } from '../support/runtime.ts';
import { cast, familyRuntime } from '../support/subagent-project.ts';
import { browsing, click, inBrowser, shows, textOf } from './browsed.ts';

const spent = {
  usage: { promptTokens: 1200, completionTokens: 80, totalTokens: 1280, cachedTokens: 900, cost: 0.0123 },
};
const BROKEN = 'The policy says that you may have';

const STEPS: readonly ScriptStep[] = [
  says('Hello. What may I do for you?', spent),
  calls('look', { booking: 'LF-2207' }, spent),
  calls('refund', { booking: 'LF-2207', euros: 120 }, spent),
  says('I have refunded 120 euros for LF-2207.', spent),
  calls('scout', { message: 'what is the policy' }, spent),
  // The three requests of step 6.
  fails({ code: 'rate_limit', message: 'slow down', retryAfter: 0.1 }),
  disconnects({ after: BROKEN }),
  says('The policy allows refunds within 30 days.', spent),
  says('You are welcome.', spent),
  says('Then we are done.', spent),
  calls('refund', { booking: 'LF-3310', euros: 85 }, { ...spent, text: 'I will refund it.' }),
];

/** A thread with a past approval, a subagent, a retry, a discarded answer, a summary, and an approval that it waits for. */
async function oddThread() {
  const booking = z.string();
  const refund = defineTool({
    description: 'refunds',
    args: z.object({ booking, euros: z.number() }),
    capabilities: ['money.move'],
    execute: async () => ({ status: 'success', result: 'refunded' }),
  });
  const look = defineTool({
    description: 'looks a booking up',
    args: z.object({ booking }),
    execute: async () => ({ status: 'success', result: 'Ada Lovelace, Rome to Paris, 120 euros' }),
  });
  let next = -1;
  const step = () => {
    next += 1;
    return STEPS[next] as ScriptStep;
  };
  const actors = cast({
    main: step,
    '': ({ messages }: RecordedRequest) =>
      messages[0]?.content === INSTRUCTIONS ? says('120 euros went to Ada.', spent) : step(),
    scout_a: [calls('finish', { text: 'Refunds within 30 days.' }, spent)],
  });
  const runtime = await familyRuntime({
    cast: actors,
    entries: ['look', 'refund', { name: 'scout', blocking: true }],
    tools: { look, refund },
    policy: { 'money.*': 'require_approval' },
    guards: { compaction: { thresholdMessages: 12, retainRecentMessages: 6 } },
  });
  const { client } = runtime;
  const asked = (threadId: string) =>
    eventually('an approval', async () => (await client.listWaits({ threadId }))[0]);
  const threadId = await runtime.start('Hello');
  await client.queueMessage(threadId, { content: 'Refund LF-2207, please.' });
  const { id } = await asked(threadId);
  await client.answerWait(id, { approved: true, by: 'Grace Hopper', reason: 'the train was cancelled' });
  await client.waitForIdle(threadId);
  for (const said of ['What is the policy?', 'thanks', 'ok']) await runtime.say(threadId, said);
  await client.queueMessage(threadId, { content: 'Refund LF-3310 as well.' });
  await asked(threadId);
  await client.waitForIdle(threadId);
  return { runtime, threadId };
}

inBrowser('from the page alone', () => {
  const open = browsing();

  it('it can be told what the model saw, what was slow, dropped, approved, paid, and is waited for', async () => {
    const { runtime, threadId } = await oddThread();
    const { url } = await testApi(runtime);
    const page = await open(url, '', { height: 2400 });
    const tab = (name: string) => page.evaluate(`location.hash = '#/threads/${threadId}/${name}'`);

    await shows(page, 'to approve refund', 'ul.list');
    await tab('');
    // It waits for this approval.
    await shows(page, '85', '[data-wait=approval]');
    expect(await textOf(page, '[data-wait=approval]')).toMatch(/LF-3310[\s\S]*money\.move/);
    // Why step 6 was slow.
    await shows(page, 'I will refund it.', '.scroller');
    const story = await textOf(page, '.scroller');
    expect(story).toMatch(/Step 6 scripted · 3 requests/);
    expect(story).toContain('"scripted" failed (rate_limit, HTTP 429): slow down. It is asked again in');
    expect(story).toContain('What step 6 has written so far is discarded');
    // What it had written, although this page was opened afterwards.
    expect(await textOf(page, 'del')).toBe(BROKEN);
    // Who approved what.
    expect(story).toContain('"booking":"LF-2207","euros":120');
    expect(story).toContain('Grace Hopper approves "refund": the train was cancelled.');
    // What it cost.
    await shows(page, '$0.12 without its subagents', '.heading');
    // What the summary says.
    await click(page, 'details.warning summary');
    await shows(page, '120 euros went to Ada.', '.scroller');

    await tab('answers');
    await shows(page, 'refund approved by Grace Hopper', '[data-tab=answers]');
    expect(await textOf(page, '[data-answered=approval]')).toMatch(
      /train was cancelled[\s\S]*LF-2207[\s\S]*120/,
    );
    await tab('request/4.1.1');
    await shows(page, 'New since 3.1.1: 2 messages', '[data-tab=request]');
    // What the summary replaced.
    await click(page, '[data-step="8"] button');
    await shows(page, '8 messages left out', '[data-tab=request]');
    await click(page, '[data-tab=request] details summary');
    await shows(page, 'Hello. What may I do for you?', '[data-tab=request]');
    await tab('budget');
    await shows(page, 'scout', '[data-tab=budget]');
    await runtime.client.terminate(threadId);
  });
});
