/**
 * The tokens that the erasure itself reads, types marked as such. sucrase's index does not export them, so they come
 * from within: its version is pinned, and the tests would tell of a change.
 */
import { createRequire } from 'node:module';
import type { File } from 'sucrase/dist/types/parser/index.js';
import type { Token as SucraseToken } from 'sucrase/dist/types/parser/tokenizer/index.js';
import type { TokenType as SucraseTokenType } from 'sucrase/dist/types/parser/tokenizer/types.js';

const require = createRequire(import.meta.url);
type Parse = (input: string, jsx: boolean, typescript: boolean, flow: boolean) => File;
const { parse } = require('sucrase/dist/parser/index.js') as { parse: Parse };

export type Token = Pick<SucraseToken, 'type' | 'start' | 'end' | 'isType'>;

export const { TokenType } = require('sucrase/dist/parser/tokenizer/types.js') as {
  TokenType: typeof SucraseTokenType;
};

/** Throws what the erasure throws. */
export function readTokens(source: string): readonly Token[] {
  return parse(source, false, true, false).tokens;
}
