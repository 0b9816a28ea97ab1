/** `everthread threads start`: a new thread, optionally with its first message. */
import { randomUUID } from 'node:crypto';
import { AnswerPrinter } from '../answer/answer-printer.ts';
import { argument, command, option, optional, parseObject, TASK_QUEUE, toggle, WAIT } from '../command.ts';
import { commandName } from '../command-name.ts';
import { ATTACH, readAttachments } from '../input/read-attachment.ts';
import { readText } from '../input/read-text.ts';
import { dimNote } from '../output/output.ts';
import { requireAgent } from '../project/require-agent.ts';

export const threadStart = command({
  description:
    "Starts a thread of an agent and prints the thread's id. The thread is durable from then on; it works as soon as " +
    'a worker ("everthread dev" or "everthread worker") serves its task queue.',
  arguments: {
    agent: argument('name of an agent of the project'),
    text: optional('first message; - reads it from standard input'),
  },
  options: {
    id: option('<id>', 'id of the thread: letters, digits and . _ : - (default: an unguessable one)'),
    user: option('<id>', 'id of the user that the thread belongs to'),
    arguments: option('<json>', "the thread's arguments, a JSON object: {{key}} in prompts", parseObject),
    context: option('<json>', 'settings of its executions, a JSON object: docs/governance.md', parseObject),
    later: toggle(
      'allow an agent that this project does not have: the thread waits for a worker that has it',
    ),
    ...ATTACH,
    ...WAIT,
    ...TASK_QUEUE,
  },
  async run({ agent, text: given, ...options }) {
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
        const sink = new AnswerPrinter({ quiet: options.json === true });
        return showAnswer({ client, threadId, after: 0, sent, sink, ...options });
      }
      return {
        json: { threadId, ...(says ? { id } : {}) },
        text: threadId,
        hint: `"${commandName()} threads tail ${threadId}" shows what it does.`,
      };
    });
  },
});
