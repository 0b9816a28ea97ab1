/** `everthread threads start`: a new thread, optionally with its first message. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { AnswerPrinter } from '../answer/answer-printer.ts';
import {
  addCommon,
  addTaskQueue,
  addWait,
  type Cli,
  type CommonOptions,
  parseObject,
  type WaitOptions,
  withExitCode,
} from '../command.ts';
import { commandName } from '../command-name.ts';
import { type AttachOptions, addAttach, readAttachments } from '../input/read-attachment.ts';
import { readText } from '../input/read-text.ts';
import { dimNote, printJson, printLine } from '../output/output.ts';
import { type LaterOptions, requireAgent } from '../project/require-agent.ts';

interface StartOptions extends CommonOptions, WaitOptions, AttachOptions, LaterOptions {
  readonly id?: string;
  readonly user?: string;
  readonly arguments?: Record<string, unknown>;
  readonly context?: Record<string, unknown>;
  readonly taskQueue?: string;
}

export function addThreadStart(threads: Command, cli: Cli): void {
  const command = threads
    .command('start')
    .summary('start a thread of an agent')
    .description(
      "Starts a thread of an agent and prints the thread's id. The thread is durable from then on; it works as soon as " +
        'a worker ("everthread dev" or "everthread worker") serves its task queue.',
    )
    .argument('<agent>', 'name of an agent of the project')
    .argument('[text]', 'first message; - reads it from standard input')
    .option('--id <id>', 'id of the thread: letters, digits and . _ : - (default: an unguessable one)')
    .option('--user <id>', 'id of the user that the thread belongs to')
    .option('--arguments <json>', "the thread's arguments, a JSON object: {{key}} in prompts", parseObject)
    .option('--context <json>', 'settings of its executions, a JSON object: docs/governance.md', parseObject)
    .option(
      '--later',
      'allow an agent that this project does not have: the thread waits for a worker that has it',
    );
  addCommon(addTaskQueue(addWait(addAttach(command)))).action(withExitCode(cli, startThread));
}

async function startThread(
  agent: string,
  given: string | undefined,
  options: StartOptions,
): Promise<number | undefined> {
  const attachments = readAttachments(options.attach);
  const content = given === undefined ? '' : await readText(given);
  const says = given !== undefined || attachments.length > 0;
  await requireAgent(agent, options);
  const { withClient } = await import('../connection/open-client.ts');
  return withClient({ ...options, createStore: true }, async (client) => {
    const id = randomUUID();
    const { threadId } = await client.startThread({
      agent,
      threadId: options.id,
      userId: options.user,
      arguments: options.arguments,
      context: options.context,
      messages: says ? [{ id, content, attachments }] : [],
    });
    if (options.wait) {
      dimNote(`thread ${threadId}`);
      const { showAnswer } = await import('../answer/show-answer.ts');
      const sent = says ? id : undefined;
      return showAnswer({
        client,
        threadId,
        after: 0,
        sent,
        sink: new AnswerPrinter({ quiet: options.json === true }),
        ...options,
      });
    }
    if (options.json) printJson({ threadId, ...(says ? { id } : {}) });
    else printLine(threadId);
    if (!options.json) dimNote(`"${commandName()} threads tail ${threadId}" shows what it does.`);
    return undefined;
  });
}
