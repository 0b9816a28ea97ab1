/** `everthread threads send` and `threads tool`: queue a message or a tool call. */
import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isExecutionId, itemIdOf } from '../../core/thread/execution-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { AnswerPrinter } from '../answer/answer-printer.ts';
import {
  addCommon,
  addTaskQueue,
  addWait,
  type Cli,
  type CommonOptions,
  parseObject,
  THREAD_ARGUMENT,
  type WaitOptions,
  withExitCode,
} from '../command.ts';
import { commandName } from '../command-name.ts';
import { findThread } from '../connection/find-thread.ts';
import { type AttachOptions, addAttach, readAttachments } from '../input/read-attachment.ts';
import { readText } from '../input/read-text.ts';
import { dimNote, printJson, printLine } from '../output/output.ts';

const EXECUTION =
  'id of the execution that it begins, in a thread at rest with an empty queue; the same request again attaches to it, another one is refused';

interface QueueOptions extends CommonOptions, WaitOptions {
  readonly id?: string;
  readonly context?: Record<string, unknown>;
  readonly execution?: string;
  readonly taskQueue?: string;
}

interface ToolOptions extends QueueOptions {
  readonly unanswered?: boolean;
}

interface SendOptions extends QueueOptions, AttachOptions {
  readonly role: 'user' | 'assistant';
  readonly silent?: boolean;
}

const CONTEXT = [
  '--context <json>',
  'settings of the execution that it begins, a JSON object: docs/governance.md',
  parseObject,
] as const;

export function addThreadSend(threads: Command, cli: Cli): void {
  const command = threads
    .command('send')
    .summary('send a thread a message')
    .description(
      "Queues a message and prints the message's id. From then on it is durable and in order with all others, also while the " +
        'thread is busy and while no worker runs.',
    )
    .argument(...THREAD_ARGUMENT)
    .argument('[text]', 'the message; - reads it from standard input; not needed with --attach')
    .option(
      '--id <message-id>',
      'id of the message: sent twice under one id, it is stored once (default: a new one)',
    )
    .option('--execution <id>', EXECUTION)
    .addOption(
      new Option('--role <role>', 'user: the agent answers; assistant: recorded as a message of the agent')
        .choices(['user', 'assistant'])
        .default('user'),
    )
    .option(...CONTEXT)
    .option('--silent', 'the model sees it, ordinary lists of messages do not show it');
  addCommon(addTaskQueue(addWait(addAttach(command)))).action(withExitCode(cli, sendMessage));
}

export function addThreadTool(threads: Command, cli: Cli): void {
  const command = threads
    .command('tool')
    .summary('have a thread run a tool')
    .description(
      'Queues a tool of the active prompt as a normal call; the model then sees its result and answers. With --unanswered the model is not ' +
        'called: with --wait the result is printed, or what the call waits for.',
    )
    .argument(...THREAD_ARGUMENT)
    .argument('<name>', 'name of the tool')
    .argument('[arguments]', `its arguments, a JSON object: '{"city":"Paris"}'`, parseObject)
    .option(...CONTEXT)
    .option('--id <item-id>', 'queued twice under one id, it runs once (default: a new one)')
    .option('--unanswered', 'do not call the model with the result')
    .option('--execution <id>', EXECUTION);
  addCommon(addTaskQueue(addWait(command))).action(withExitCode(cli, queueTool));
}

async function sendMessage(
  threadId: string,
  given: string | undefined,
  options: SendOptions,
): Promise<number | undefined> {
  const { execution: executionId, role, silent, context } = options;
  const { id = newId(executionId) } = options;
  const attachments = readAttachments(options.attach);
  if (given === undefined && attachments.length === 0)
    throw new RuntimeError('InvalidMessage', 'Give a text to send, or files with --attach.');
  const content = given === undefined ? '' : await readText(given);
  // An assistant message gets no answer: only rest can be awaited.
  const sent = role === 'user' ? id : undefined;
  return sendAndWait(threadId, options, sent, (client) =>
    client.queueMessage(threadId, { id, content, role, silent, attachments, context, executionId }),
  );
}

async function queueTool(
  threadId: string,
  name: string,
  args: Record<string, unknown> | undefined,
  options: ToolOptions,
): Promise<number | undefined> {
  const { execution: executionId, id = newId(executionId), context, unanswered, wait } = options;
  const tool = { id, name, arguments: args, context, executionId };
  if (unanswered && wait) {
    const { showCall } = await import('../answer/show-call.ts');
    return showCall(threadId, tool, options);
  }
  return sendAndWait(threadId, options, id, (client) => client.queueTool(threadId, { ...tool, unanswered }));
}

/** Returns an id derived from the execution's: the same message under the same execution is queued once. */
function newId(executionId: string | undefined): string {
  return executionId === undefined || !isExecutionId(executionId) ? randomUUID() : itemIdOf(executionId);
}

async function sendAndWait(
  threadId: string,
  options: QueueOptions,
  sent: string | undefined,
  send: (client: RuntimeClient) => Promise<{ id: string }>,
): Promise<number | undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  return withClient(options, async (client) => {
    const after = (await findThread(client, threadId))?.lastSeq ?? 0;
    const { id } = await send(client);
    if (options.wait) {
      const { showAnswer } = await import('../answer/show-answer.ts');
      const sink = new AnswerPrinter({ quiet: options.json === true });
      return showAnswer({ client, threadId, after, sent, sink, ...options });
    }
    if (options.json) printJson({ threadId, id });
    else printLine(id);
    if (!options.json) dimNote(`Queued. "${commandName()} threads tail ${threadId}" shows the result.`);
    return undefined;
  });
}
