import {
  defineTool,
  type FileRecord,
  type GrepResult,
  type Log,
  type Message,
  type ScheduledEffect,
  type ToolAttachment,
} from 'everthread';

/** Functions of authors take plain, mutable arrays. */
const join = (lines: string[]) => lines.join('\n');

export default defineTool({
  description: 'Reports what there is.',
  execute: async (state) => {
    const messages: Message[] = (await state.getMessages()).messages;
    const logs: Log[] = await state.getLogs();
    const effects: ScheduledEffect[] = await state.getScheduledEffects();
    const files: FileRecord[] = (await state.readdirFile('/')).entries;
    const found: GrepResult[] = await state.grepFiles('order');
    const lines = found.flatMap(({ matches }) => join(matches));
    const counts = [messages, logs, effects, files].map(({ length }) => String(length));
    const attachments: ToolAttachment[] = [];
    attachments.push({ name: 'report.txt', mimeType: 'text/plain', data: btoa(join(lines)) });
    return { status: 'success', result: join(counts), attachments };
  },
});
