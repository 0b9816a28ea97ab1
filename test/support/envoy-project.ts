/**
 * A family whose envoy needs its own variable PASSPORT (runtime §7.5): a variable that no owner has set is requested.
 */
import { REPORT_START } from '../../src/core/thread/subagent-report.ts';
import { type AgentInput, defineTool, type VariableInput } from '../../src/definitions/index.ts';
import { calls, type RecordedRequest, says } from '../../src/testing/index.ts';
import { type ChildProject, childProject, handsIn, hasResult, lastTold, modelOf } from './child-project.ts';
import { eventually, type TestRuntime } from './runtime.ts';

export const PASSPORT = 'grenelle-4711';
export const NEEDS: VariableInput[] = [{ name: 'PASSPORT', required: true, scoped: true }];

/** Reports the lengths of the values: secrets themselves would be redacted. */
const look = defineTool({
  description: 'looks at its papers',
  execute: async (state) => {
    const seen: string[] = [];
    for (const name of ['PASSPORT', 'VISA', 'CITY']) {
      const value = await state.env(name).catch(() => undefined);
      if (value !== undefined) seen.push(`${name} ${await state.envType(name)} ${value.length}`);
    }
    return { status: 'success', result: seen.join(', ') };
  },
});

export const saysWhatItSaw = (request: RecordedRequest) =>
  hasResult(request) ? handsIn(`I saw ${request.messages.at(-1)?.content}`) : calls('look');

export interface Family extends Partial<ChildProject> {
  readonly envoy?: Partial<AgentInput>;
}

export function envoyProject({ envoy = { variables: NEEDS }, ...more }: Family = {}) {
  const model = modelOf({
    main: (request) => {
      const told = lastTold(request);
      if (hasResult(request) || REPORT_START.test(told)) return says('noted');
      return calls(told === 'wait' ? 'clerk' : 'envoy');
    },
    envoy_desk: saysWhatItSaw,
    clerk_desk: () => handsIn('filed'),
  });
  return childProject({
    model,
    entries: ['envoy', 'clerk'],
    children: { envoy: { agent: envoy, desk: { tools: ['look'] } }, clerk: {} },
    tools: { look },
    ...more,
  });
}

/** Starts a thread whose envoy waits for its variables; returns it with the request. */
export async function waiting(runtime: TestRuntime, env = {}) {
  const { threadId } = await runtime.client.startThread({
    agent: 'helper',
    userId: 'ada',
    messages: [{ content: 'go' }],
    env,
  });
  await runtime.client.waitForIdle(threadId);
  const [request] = await runtime.client.listVariableRequests(threadId);
  if (!request) throw new Error((await runtime.transcript(threadId)).join('\n'));
  return { thread: threadId, request };
}

export async function reports(runtime: TestRuntime, thread: string) {
  const messages = await runtime.messages(thread);
  return messages.filter(({ role, content }) => role === 'user' && REPORT_START.test(content ?? ''));
}

export async function reported(runtime: TestRuntime, thread: string) {
  await eventually('the report', async () => (await reports(runtime, thread)).length > 0);
  await runtime.client.waitForIdle(thread);
  return reports(runtime, thread);
}
