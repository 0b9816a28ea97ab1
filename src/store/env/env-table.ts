/** The table of variables: of a thread, of a user, or of the instance, whose owner is ''. */

export interface EnvTable {
  scope: 'thread' | 'user' | 'instance';
  owner: string;
  name: string;
  type: 'text' | 'secret';
  /** The id of the key that `value` is encrypted with (crypto/encryption.ts). */
  key_id: string;
  value: string;
  updated_at: number;
  /** 1: a copy of a parent's value that no prompt may show. */
  withheld: number;
}

export interface EnvTables {
  env_values: EnvTable;
}
