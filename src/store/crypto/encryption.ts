/**
 * Encryption of variables at rest: AES-256-GCM, with a random 12-byte IV for each value and the key's id beside it.
 * Pure but for the random IV.
 * - Each value is authenticated with what it belongs to (scope, owner, name, type): a row that was moved or changed
 *   does not decrypt.
 * - The first key encrypts; the others only decrypt. That is how keys are rotated.
 * - No error message contains a key or a value. Keys are KeyObjects, which show nothing when they are printed.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { RuntimeError } from '../../core/value/error.ts';

export interface EncryptionKeys {
  /** Id of the key that encrypts. */
  readonly active: string;
  readonly byId: ReadonlyMap<string, KeyObject>;
}

/** What a value is bound to. */
interface Binding {
  readonly scope: string;
  readonly owner: string;
  readonly name: string;
  readonly type: string;
}

interface Sealed {
  readonly keyId: string;
  /** Base64 of IV, ciphertext and tag. */
  readonly data: string;
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[\w.-]{1,32}$/;

/** Parses `id:hex,…`; `where` names the source of the text in error messages. Throws `InvalidConfiguration`. */
export function parseKeys(text: string, where: string): EncryptionKeys {
  const byId = new Map<string, KeyObject>();
  for (const [index, part] of text.split(',').entries()) {
    const [id = '', hex, ...rest] = part.trim().split(':');
    const wrong = (what: string) =>
      new RuntimeError(
        'InvalidConfiguration',
        `${where} cannot be used: ${what}. Write id:hex, separated by commas, where hex is ${KEY_BYTES} random bytes ` +
          '(openssl rand -hex 32); the first key encrypts, the others only decrypt.',
      );
    // The text of an invalid entry may be a key: only its position is reported.
    if (!KEY_ID.test(id) || hex === undefined || rest.length > 0)
      throw wrong(`entry ${index + 1} is not id:hex`);
    if (!/^[0-9a-f]+$/i.test(hex) || hex.length !== KEY_BYTES * 2) {
      throw wrong(`the key "${id}" is not ${KEY_BYTES * 2} hexadecimal digits`);
    }
    if (byId.has(id)) throw wrong(`the id "${id}" is duplicated`);
    byId.set(id, createSecretKey(hex, 'hex'));
  }
  const [active] = byId.keys();
  return { active: active as string, byId };
}

/** Returns a new key, in the format that `parseKeys` reads. */
export function generateKey(id: string): string {
  return `${id}:${randomBytes(KEY_BYTES).toString('hex')}`;
}

export function encrypt(keys: EncryptionKeys, binding: Binding, value: string): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keys.byId.get(keys.active) as KeyObject, iv);
  cipher.setAAD(bind(binding));
  const sealed = Buffer.concat([iv, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { keyId: keys.active, data: sealed.toString('base64') };
}

/**
 * Throws `InvalidConfiguration` for an unknown key, and for a value that was not encrypted with this key and this
 * binding.
 */
export function decrypt(keys: EncryptionKeys, binding: Binding, { keyId, data }: Sealed): string {
  const key = keys.byId.get(keyId);
  if (!key) {
    const known = [...keys.byId.keys()].map((id) => `"${id}"`).join(', ');
    throw new RuntimeError(
      'InvalidConfiguration',
      `${describe(binding)} is encrypted with the key "${keyId}", which is not among the known keys (${known}). ` +
        'Add it to EVERTHREAD_ENCRYPTION_KEYS after the others, or set the variable again.',
    );
  }
  const bytes = Buffer.from(data, 'base64');
  try {
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(bind(binding));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    throw new RuntimeError(
      'InvalidConfiguration',
      `${describe(binding)} cannot be decrypted: the key "${keyId}" is not the one that it was encrypted with, or the ` +
        'row was changed. Set the variable again.',
    );
  }
}

/** The authenticated data. The version comes first, so that a later format can never be mistaken for this one. */
function bind({ scope, owner, name, type }: Binding): Buffer {
  return Buffer.from(JSON.stringify(['everthread.env.1', scope, owner, name, type]), 'utf8');
}

function describe({ scope, owner, name }: Binding): string {
  return `The variable "${name}" of ${scope === 'instance' ? 'the instance' : `${scope} "${owner}"`}`;
}
