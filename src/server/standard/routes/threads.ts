/** Threads of Standard Agents: created, read, stopped; variables that their subagents lack. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { type Caller, callerContext } from '../../api/caller.ts';
import type { AgentSide, ApiAgent } from '../../api/host.ts';
import { jsonResponse } from '../../api/problem.ts';
import { addressOf } from '../../api/public-address.ts';
import { readBody, type StandardHost, type StandardRoute, standardRoute } from '../standard-route.ts';

const text = z.record(z.string(), z.string());
const newThread = z.object({
  agent_id: z.string().min(1),
  tags: z.array(z.string()).optional(),
  env: text.optional(),
  env_types: z.record(z.string(), z.enum(['secret', 'text'])).optional(),
  tenvs: text.optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  // The standard's own server validates these two, and ignores them.
  initial_messages: z.array(z.looseObject({})).optional(),
  data: z.unknown().optional(),
});

async function start(host: StandardHost, caller: Caller, body: z.infer<typeof newThread>): Promise<Response> {
  const { agent_id: agent, env_types: types = {} } = body;
  const known = host.agents?.();
  if (known && !known.some(({ name }) => name === agent))
    throw new RuntimeError('AgentNotFound', `There is no agent "${agent}".`);
  const env = Object.entries({ ...body.tenvs, ...body.env }).map(([name, value]) => [
    name,
    { value, type: types[name] },
  ]);
  const { threadId } = await host.client.startThread({
    agent,
    userId: caller.userId ?? undefined,
    env: Object.fromEntries(env),
    context: callerContext(caller),
    tags: body.tags,
  });
  return jsonResponse({ threadId, agent_id: agent, message: 'Thread created' });
}

/** The fields of an agent that clients see: its title, and the labels and prompts of its sides. */
function toAgent({ name, title, description, icon, sideA, sideB }: ApiAgent, request: Request) {
  return {
    id: name,
    title: title ?? name,
    description,
    icon: icon == null ? null : new URL(icon.replace(/^\/+/, ''), `${addressOf(request)}/`).href,
    ...sideFields('a', sideA ?? null),
    ...sideFields('b', sideB ?? null),
  };
}

/** A side without a prompt is a person's. */
function sideFields(side: 'a' | 'b', found: AgentSide | null) {
  return {
    [`side_${side}_backing`]: found ? 'prompt' : 'human',
    [`side_${side}_label`]: found?.label ?? null,
    [`side_${side}_agent_prompt`]: found?.prompt ?? null,
    [`side_${side}_handler`]: null,
  };
}

const variables = z.object({ env: text });

/** The path that a subagent's request names, and the same path below the client's base path. */
const variablePaths = [
  '/threads/:threadId/variables/:requestId',
  '/api/threads/:threadId/variables/:requestId',
] as const;

export const threadRoutes: readonly StandardRoute[] = [
  standardRoute('POST', '/api/threads', 'write', async ({ request, caller, host }) =>
    start(host, caller, await readBody(request, newThread)),
  ),
  standardRoute('GET', '/api/threads/:threadId', 'read', async ({ thread, request, host }) => {
    const agent = host.agents?.().find(({ name }) => name === thread.agent);
    return jsonResponse({
      thread: {
        id: thread.id,
        agent_id: thread.agent,
        user_id: thread.userId,
        tags: [...(thread.name === null ? [] : [`name:${thread.name}`]), ...thread.tags],
        parent: thread.parentId,
        terminated: thread.terminatedAt,
        created_at: thread.createdAt,
      },
      agent: agent ? toAgent(agent, request) : null,
      stats: { message_count: thread.messageCount, log_count: thread.lastStep },
    });
  }),
  standardRoute('POST', '/api/threads/:threadId/stop', 'write', async ({ thread, host }) => {
    await host.client.stop(thread.id);
    return jsonResponse({ status: 'stopped', message: 'Execution stopped' });
  }),
  ...variablePaths.flatMap((path) => [
    standardRoute('GET', path, 'read', async ({ thread, params: { requestId = '' }, host }) => {
      const found = await host.client.getVariableRequest(requestId);
      if (found.parentId !== thread.id || found.childId !== null) throw requestNotFound(thread.id, requestId);
      return jsonResponse({
        request_id: found.id,
        parent_thread_id: found.parentId,
        agent_name: found.agent,
        registry_agent_name: found.agent,
        required: found.required,
        missing: found.missing,
      });
    }),
    standardRoute('POST', path, 'answer', async ({ thread, params: { requestId = '' }, request, host }) => {
      const { env } = await readBody(request, variables);
      const { childThreadId } = await host.client.provideVariables(thread.id, requestId, env);
      return jsonResponse({ request_id: requestId, child_thread_id: childThreadId, status: 'success' });
    }),
  ]),
];

function requestNotFound(threadId: string, requestId: string): RuntimeError {
  return new RuntimeError(
    'VariableRequestNotFound',
    `Thread "${threadId}" has no open request "${requestId}".`,
  );
}
