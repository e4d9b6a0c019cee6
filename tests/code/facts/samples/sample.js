#!/usr/bin/env node
// A store of things.
import fs, { join as joined } from 'node:fs';
import * as path from 'node:path';
import './side-effect.js';

const LIMIT = 10;
let counter = 0, { first, rest: [second = 2, ...others] } = load();
var legacy = require('legacy');

export function read(name, { deep = false, ...options } = {}, ...more) {
  for (const [key, value] of Object.entries(options)) {
    if (key === name) return value;
  }
  try {
    return legacy[name];
  } catch ({ message }) {
    counter += 1;
    throw new Error(`cannot read ${name}: ${message}`);
  }
}

export async function* walk(root) {
  yield* root;
}

export const write = async (item) => item;
const older = function (a) { return a };

export class Store extends Base {
  #items = new Map();
  static shared = null;
  handler = (event) => this.read(event);

  constructor(name) {
    super();
    this.name = name;
  }

  get size() { return this.#items.size }
  set size(value) { this.#items = value }
  static create() { return new Store('x') }
  async *each() { yield 1 }
  [Symbol.iterator]() { return this.each() }
  #hidden() { return /pattern/g }
}

const api = {
  get(id) { return id },
  put: (id) => id,
  remove: function (id) { return id },
  limit: LIMIT,
};

function Old() { this.kept = 1 }
Old.prototype.run = function () { return this.kept };

export { api as default, older };
export * from './all.js';
export * as tools from './tools.js';

function View({ title, onClose }) {
  const close = () => onClose();
  return <Panel title={title} onClose={close}>some text {title}</Panel>;
}
