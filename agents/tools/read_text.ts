import { defineTool } from 'everthread';
import { z } from 'zod';
import { findText, listTexts } from './_library.ts';

export default defineTool({
  description: 'Reads one text of the handbook, whole, with line numbers.',
  args: z.object({
    file: z.string().describe('As list_texts and search_texts name it, such as "glossary.md"'),
  }),
  quick: true,
  async execute(_state, { file }) {
    const text = await findText(file);
    if (text)
      return {
        status: 'success',
        result: text.lines.map((line, index) => `${index + 1}: ${line}`).join('\n'),
      };
    const known = (await listTexts()).map((each) => each.file).join(', ');
    return { status: 'error', error: `There is no text "${file}". There are: ${known}.` };
  },
});
