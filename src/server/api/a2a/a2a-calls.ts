/** The calls of A2A's two bindings, by JSON-RPC name: each parses its parameters and wraps its answer. */
import { z } from '@hono/zod-openapi';
import { type A2aTask, isTerminal } from '../../../projections/a2a/a2a-shape.ts';
import { readCursor } from '../../../projections/projection.ts';
import { type Caller, requireScope } from '../caller.ts';
import { requireAgent } from '../known-agent.ts';
import { refuseRequest, SAFE_HEADERS } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import { openStream, openStreamFor } from '../stream.ts';
import { A2aRefusal } from './a2a-error.ts';
import { sendParams } from './a2a-request.ts';
import { cancelTask } from './cancel-task.ts';
import { findTask } from './find-task.ts';
import { findTarget, sendMessage } from './send-message.ts';
import { withHistory } from './task-history.ts';
import { listParams, listTasks } from './task-list.ts';
import { readTask } from './task-reading.ts';
import { type ResponseContext, respondAtRest, signFileUrls, streamTask } from './task-response.ts';

export interface A2aCallInput extends ResponseContext {
  readonly agent: string;
  readonly caller: Caller;
  readonly params: unknown;
}

type A2aCall = (asked: A2aCallInput) => Promise<Response>;

const history = optionalField(z.coerce.number().int().min(0));
const getParams = z.object({ id: z.string(), historyLength: history });
const cancelParams = z.object({
  id: z.string(),
  metadata: optionalField(z.looseObject({ reason: optionalText })),
});
const subscribeParams = z.object({ id: z.string() });

export const A2A_CALLS: Readonly<Record<string, A2aCall>> = {
  async SendMessage(asked) {
    const { host, request } = asked;
    const { threadId, configuration, send } = await readSending(asked);
    const toAnswer = (task: A2aTask) => ({ task: withHistory(task, configuration?.historyLength) });
    if (configuration?.returnImmediately) {
      const task = await readTask(host.client, await send());
      return toResponse(asked, toAnswer(await signFileUrls(host, request, task)));
    }
    const [stream, sent] = await openStreamFor(host, threadId, request, send);
    return respondAtRest(asked, stream, sent, toAnswer);
  },
  async SendStreamingMessage(asked) {
    const { threadId, send } = await readSending(asked);
    const [stream, sent] = await openStreamFor(asked.host, threadId, asked.request, send);
    return streamTask(asked, stream, { ...sent, until: 'rest' });
  },
  async GetTask(asked) {
    const { host, caller, agent, request } = asked;
    requireScope(caller, 'read');
    const { id, historyLength } = parseParams(getParams, asked.params);
    const task = await readTask(host.client, await findTask(host, caller, { agent, taskId: id }));
    return toResponse(asked, withHistory(await signFileUrls(host, request, task), historyLength));
  },
  async ListTasks(asked) {
    const { host, caller, agent, request } = asked;
    requireScope(caller, 'read');
    const listed = await listTasks(host, caller, { agent, ...parseParams(listParams, asked.params) });
    const tasks = listed.tasks.map((task) => signFileUrls(host, request, task));
    return toResponse(asked, { ...listed, tasks: await Promise.all(tasks) });
  },
  async CancelTask(asked) {
    const { host, caller, agent, request } = asked;
    requireScope(caller, 'write');
    const { id, metadata } = parseParams(cancelParams, asked.params);
    const given = { agent, id, reason: metadata?.reason, signal: request.signal };
    return toResponse(asked, await signFileUrls(host, request, await cancelTask(host, caller, given)));
  },
  async SubscribeToTask(asked) {
    const { host, caller, agent, request } = asked;
    requireScope(caller, 'read');
    const { id } = parseParams(subscribeParams, asked.params);
    const found = await findTask(host, caller, { agent, taskId: id });
    const last = request.headers.get('last-event-id');
    // A client that reconnects gets the remaining frames, also after the end of the task.
    const after = last === null ? undefined : readCursor(last);
    if (after === undefined && isTerminal((await readTask(host.client, found)).status.state))
      throw new A2aRefusal('UNSUPPORTED_OPERATION', `The task "${id}" has ended: read it with GetTask.`);
    const stream = openStream(host, found.thread.id, request.signal);
    return streamTask(asked, stream, { ...found, until: 'end', after });
  },
  async GetExtendedAgentCard() {
    throw new A2aRefusal(
      'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
      'There is no extended card: the public card is complete.',
    );
  },
  CreateTaskPushNotificationConfig: rejectPush,
  GetTaskPushNotificationConfig: rejectPush,
  ListTaskPushNotificationConfigs: rejectPush,
  DeleteTaskPushNotificationConfig: rejectPush,
};

/** Reads a message and where it goes. Nothing is stored until `send` is called. */
async function readSending({ host, caller, agent, params }: A2aCallInput) {
  requireScope(caller, 'write');
  const { message, configuration } = parseParams(sendParams, params);
  refusePush(configuration);
  requireAgent(host, agent);
  const target = await findTarget(host, caller, { agent, message });
  const send = () => sendMessage(host, caller, { agent, message, ...target });
  return { threadId: target.threadId, configuration, send };
}

function toResponse({ type, wrap }: ResponseContext, body: unknown): Response {
  return new Response(JSON.stringify(wrap(body)), { headers: { 'content-type': type, ...SAFE_HEADERS } });
}

/** Throws `InvalidRequest`. */
function parseParams<Schema extends z.ZodType>(schema: Schema, given: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (success) return data;
  const problems = error.issues
    .slice(0, 10)
    .map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`);
  return refuseRequest(`The parameters are invalid: ${problems.join('; ')}.`);
}

function refusePush(configuration: { readonly taskPushNotificationConfig?: unknown } | undefined): void {
  if (configuration?.taskPushNotificationConfig != null) throw pushNotSupported();
}

async function rejectPush(): Promise<Response> {
  throw pushNotSupported();
}

function pushNotSupported(): A2aRefusal {
  return new A2aRefusal(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'Push notifications are not supported: subscribe to the task.',
  );
}
