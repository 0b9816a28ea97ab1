import { defineTool } from 'everthread';
import { z } from 'zod';
import { listTexts, searchTexts } from './_library.ts';

export default defineTool({
  description:
    'Searches all texts of the handbook. Answers with the lines that contain words of the query, best first, each as ' +
    '"file:line: text". Use a few telling words; try others when nothing fits.',
  args: z.object({
    query: z.string().describe('Words to look for, such as "double charge refund"'),
    limit: z.number().int().min(1).max(50).default(8).describe('How many lines at most'),
  }),
  quick: true,
  async execute(_state, { query, limit }) {
    const hits = searchTexts(await listTexts(), query);
    if (hits.length === 0) return { status: 'success', result: `No line has any of the words "${query}".` };
    const rows = hits.slice(0, limit).map(({ file, line, text }) => `${file}:${line}: ${text}`);
    return { status: 'success', result: rows.join('\n') };
  },
});
