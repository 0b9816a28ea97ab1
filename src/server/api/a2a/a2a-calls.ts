/** The calls of A2A's two bindings, by JSON-RPC name: each parses its parameters and wraps its answer. */
import { z } from '@hono/zod-openapi';
import { type A2aTask, isTerminal } from '../../../projections/a2a/a2a-shape.ts';
import { readCursor } from '../../../projections/projection.ts';
import { type Caller, requireScope } from '../caller.ts';
import { requireAgent } from '../known-agent.ts';
import { refuseRequest, SAFE_HEADERS } from '../problem.ts';
import { A2aRefusal } from './a2a-error.ts';
import { sendParams } from './a2a-request.ts';
import { cancelTask } from './cancel-task.ts';
import { findTask } from './find-task.ts';
import { sendMessage } from './send-message.ts';
import { withHistory } from './task-history.ts';
import { listParams, listTasks } from './task-list.ts';
import { readTask } from './task-reading.ts';
import { addressed, type Respond, taskStream, whenAtRest } from './task-response.ts';

export interface Asked extends Respond {
  readonly agent: string;
  readonly caller: Caller;
  readonly params: unknown;
}

type Call = (asked: Asked) => Promise<Response>;

const history = z.coerce.number().int().min(0).optional();
const getParams = z.object({ id: z.string(), historyLength: history });
const cancelParams = z.object({
  id: z.string(),
  metadata: z.looseObject({ reason: z.string().optional() }).optional(),
});
const subscribeParams = z.object({ id: z.string() });

export const A2A_CALLS: Readonly<Record<string, Call>> = {
  async SendMessage(asked) {
    const { host, caller, agent } = asked;
    requireScope(caller, 'write');
    const { message, configuration = {} } = read(sendParams, asked.params);
    refusePush(configuration);
    requireAgent(host, agent);
    const sent = await sendMessage(host, caller, { agent, message });
    const toAnswer = (task: A2aTask) => ({ task: withHistory(task, configuration.historyLength) });
    if (!configuration.returnImmediately) return whenAtRest(asked, sent, toAnswer);
    return answer(asked, toAnswer(await addressed(host, asked.request, await readTask(host.client, sent))));
  },
  async SendStreamingMessage(asked) {
    const { host, caller, agent } = asked;
    requireScope(caller, 'write');
    const { message, configuration = {} } = read(sendParams, asked.params);
    refusePush(configuration);
    requireAgent(host, agent);
    const sent = await sendMessage(host, caller, { agent, message });
    return taskStream(asked, { ...sent, until: 'rest' });
  },
  async GetTask(asked) {
    const { host, caller, request } = asked;
    requireScope(caller, 'read');
    const { id, historyLength } = read(getParams, asked.params);
    const task = await readTask(host.client, await findTask(host, caller, id));
    return answer(asked, withHistory(await addressed(host, request, task), historyLength));
  },
  async ListTasks(asked) {
    const { host, caller } = asked;
    requireScope(caller, 'read');
    return answer(asked, await listTasks(host, caller, read(listParams, asked.params)));
  },
  async CancelTask(asked) {
    const { host, caller } = asked;
    requireScope(caller, 'write');
    const { id, metadata } = read(cancelParams, asked.params);
    const given = { id, reason: metadata?.reason, signal: asked.request.signal };
    return answer(asked, await cancelTask(host, caller, given));
  },
  async SubscribeToTask(asked) {
    const { host, caller, request } = asked;
    requireScope(caller, 'read');
    const { id } = read(subscribeParams, asked.params);
    const found = await findTask(host, caller, id);
    const last = request.headers.get('last-event-id');
    // A client that reconnects gets the remaining frames, also after the end of the task.
    if (last !== null) return taskStream(asked, { ...found, until: 'end', after: readCursor(last) });
    const { status } = await readTask(host.client, found);
    if (isTerminal(status.state))
      throw new A2aRefusal('UNSUPPORTED_OPERATION', `The task "${id}" has ended: GetTask tells it.`);
    return taskStream(asked, { ...found, until: 'end' });
  },
  async GetExtendedAgentCard() {
    throw new A2aRefusal('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The public card says everything.');
  },
  CreateTaskPushNotificationConfig: noPush,
  GetTaskPushNotificationConfig: noPush,
  ListTaskPushNotificationConfigs: noPush,
  DeleteTaskPushNotificationConfig: noPush,
};

function answer({ type, wrap }: Respond, told: unknown): Response {
  return new Response(JSON.stringify(wrap(told)), { headers: { 'content-type': type, ...SAFE_HEADERS } });
}

/** Throws `InvalidRequest`. */
function read<Schema extends z.ZodType>(schema: Schema, given: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (success) return data;
  const told = error.issues
    .slice(0, 10)
    .map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`);
  return refuseRequest(`The parameters cannot be used: ${told.join('; ')}.`);
}

function refusePush(configuration: { readonly taskPushNotificationConfig?: unknown }): void {
  if (configuration.taskPushNotificationConfig != null) throw pushRefusal();
}

async function noPush(): Promise<Response> {
  throw pushRefusal();
}

function pushRefusal(): A2aRefusal {
  return new A2aRefusal('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Nothing is pushed: subscribe to the task.');
}
