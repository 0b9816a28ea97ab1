/**
 * AgenticX's runtime page, line by line: each heading, row of a table and step of its loop, with the acceptance cases whose tests show it,
 * the deviation that is on purpose, or what it waits for.
 */
import { differs, type PageLine, shown } from './page-line.ts';

export const AGENTICX_LINES: readonly PageLine[] = [
  shown('The think-act loop: message sanitization', 'AX-10', 'AX-12', 'AX-13', 'AX-14', 'AX-15'),
  differs(
    'The think-act loop: message sanitization, dangling tool_calls are dropped',
    'such a call gets a failed result, so that the model knows of it; one without an id is dropped, and its text kept (AX-11)',
  ),
];
