import { defineTool } from 'everthread';
import { readEntries } from './_bulletin.ts';

export default defineTool({
  description:
    'Lists what is on the bulletin, oldest first. The way to find out whether a publish_summary with an unknown outcome ' +
    'has taken effect.',
  quick: true,
  async execute() {
    const entries = (await readEntries()).slice(-20);
    if (entries.length === 0) return { status: 'success', result: 'Nothing has been published yet.' };
    const rows = entries.map(({ key, title, summary }) => `- ${title}: ${summary} (entry ${key})`);
    return { status: 'success', result: rows.join('\n') };
  },
});
