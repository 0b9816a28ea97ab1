/** The commands that do what the page does: of our command line, of curl and of Temporal's. No command holds a token. */
import { hasToken } from './session.ts';

const PLAIN = /^[\w./:=@%+,-]+$/;

export function quote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function command(program: string, ...words: readonly string[]): string {
  return [program, ...words.map(quote)].join(' ');
}

export const everthread = (...words: readonly string[]): string => command('everthread', ...words);

export function curl(url: string, method = 'GET', body?: unknown): string {
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    quote(url),
    // Double quotes: the shell puts the token in.
    ...(hasToken.value ? ['-H', '"authorization: Bearer $EVERTHREAD_TOKEN"'] : []),
    ...(body === undefined
      ? []
      : ['-H', quote('content-type: application/json'), '-d', quote(JSON.stringify(body))]),
  ].join(' ');
}
