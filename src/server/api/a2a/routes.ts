/** Serves agents to other agents: A2A 1.0, each agent at its own URL below `/a2a` (docs/a2a.md). */
import { z } from '@hono/zod-openapi';
import { toPlainTask } from '../../../projections/a2a/plain-task.ts';
import { requireAgent } from '../known-agent.ts';
import { jsonResponse, refuseRequest } from '../problem.ts';
import { addressOf } from '../public-address.ts';
import { type ApiRoute, route } from '../route.ts';
import { toCard } from './agent-card.ts';
import { type A2aRequest, answerRest, answerRpc } from './bindings.ts';
import { cancelNamedTask } from './protolink-task.ts';

const tag = 'A2A';
const params = z.object({ agent: z.string() });
const taskParams = params.extend({
  task: z.string().min(1).meta({ description: 'Id of a task; `:cancel` or `:subscribe` may follow it' }),
});
const answer = ['application/a2a+json', 'text/event-stream'];
type A2aRouteInput = Omit<A2aRequest, 'agent'> & { readonly params: { readonly agent: string } };
const toA2aRequest = ({ params: { agent }, host, request, caller }: A2aRouteInput): A2aRequest => ({
  host,
  request,
  caller,
  agent,
});
const queryOf = ({ url }: Request) => Object.fromEntries(new URL(url).searchParams);

export const a2aRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/a2a/{agent}/.well-known/agent-card.json',
    id: 'readAgentCard',
    scope: 'none',
    tag,
    summary: 'Read the card of an agent, with the address to send messages to; needs no token',
    params,
    answer: z.looseObject({ name: z.string() }),
    handle({ params: { agent }, request, host }) {
      const address = `${addressOf(request)}/a2a/${encodeURIComponent(agent)}`;
      return jsonResponse(toCard(requireAgent(host, agent), address));
    },
  }),
  route({
    method: 'post',
    path: '/a2a/{agent}',
    id: 'callAgent',
    scope: 'read',
    tag,
    summary: 'Call a method with JSON-RPC; methods that send or cancel need the scope `write`',
    params,
    bytes: true,
    answer: ['application/json', 'text/event-stream'],
    handle: (given) => answerRpc(toA2aRequest(given)),
  }),
  ...(['SendMessage', 'SendStreamingMessage'] as const).map((method) =>
    route({
      method: 'post',
      path: `/a2a/{agent}/message:${method === 'SendMessage' ? 'send' : 'stream'}`,
      id: `a2a${method}`,
      scope: 'write',
      tag,
      summary:
        method === 'SendMessage'
          ? 'Send a message, and wait until its task has ended or is waiting for input'
          : 'Send a message, and read the events of its task as a stream',
      params,
      bytes: true,
      answer,
      handle: (given) => answerRest(method, {}, toA2aRequest(given)),
    }),
  ),
  route({
    method: 'post',
    path: '/a2a/{agent}/tasks/cancel',
    id: 'cancelProtolinkTask',
    scope: 'write',
    tag,
    summary: 'Cancel a task as Protolink’s AgentClient does, by the id that its sender chose',
    params,
    body: z
      .looseObject({
        id: z.string().trim().min(1).optional(),
        task_id: z.string().trim().min(1).optional(),
        reason: z.string().optional(),
        metadata: z.looseObject({ reason: z.string().optional() }).optional(),
      })
      .openapi('ProtolinkCancel'),
    answer: z.looseObject({ id: z.string(), state: z.string() }),
    async handle({ params: { agent }, body, request, caller, host }) {
      const id = body.id ?? body.task_id ?? refuseRequest('Give the id of the task as "id".');
      const reason = body.reason ?? body.metadata?.reason;
      const task = await cancelNamedTask(host, caller, { agent, id, reason, signal: request.signal });
      return jsonResponse(toPlainTask(id, task));
    },
  }),
  route({
    method: 'get',
    path: '/a2a/{agent}/tasks',
    id: 'a2aListTasks',
    scope: 'read',
    tag,
    summary: 'List tasks that have begun, latest first',
    params,
    answer,
    handle: (given) => answerRest('ListTasks', queryOf(given.request), toA2aRequest(given)),
  }),
  route({
    method: 'get',
    path: '/a2a/{agent}/tasks/{task}',
    id: 'a2aGetTask',
    scope: 'read',
    tag,
    summary: 'Read a task, or read its events as a stream (`:subscribe`)',
    params: taskParams,
    answer,
    handle(given) {
      const [, id, verb] = /^(.*?)(:subscribe)?$/s.exec(given.params.task) ?? [];
      const method = verb ? 'SubscribeToTask' : 'GetTask';
      return answerRest(method, { ...queryOf(given.request), id }, toA2aRequest(given));
    },
  }),
  route({
    method: 'post',
    path: '/a2a/{agent}/tasks/{task}',
    id: 'a2aCallTask',
    scope: 'read',
    tag,
    summary:
      'Cancel a task (`:cancel`, with the scope `write`), or read its events as a stream (`:subscribe`)',
    params: taskParams,
    bytes: true,
    answer,
    handle(given) {
      const [, id, verb] = /^(.*):(cancel|subscribe)$/s.exec(given.params.task) ?? [];
      if (id === undefined) return refuseRequest('The path must end with ID:cancel or ID:subscribe.');
      return answerRest(verb === 'cancel' ? 'CancelTask' : 'SubscribeToTask', { id }, toA2aRequest(given));
    },
  }),
];
