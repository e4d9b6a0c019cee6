<?php

declare(strict_types=1);

namespace Example\Store;

use Example\Base;
use Example\Other as Another;
use Example\Tools\{First, Second as Two};
use function Example\helper;
use const Example\LIMIT;

require_once 'bootstrap.php';

const VERSION = '1';
define('OLD', 2);

interface Reader extends \Countable
{
    const NAME = 'reader';
    public function read(string $name): ?Item;
}

trait Logged
{
    protected array $lines = [];

    public function log(string $line): void
    {
        $this->lines[] = $line;
    }
}

enum Kind: string
{
    case Plain = 'plain';
    case Fancy = 'fancy';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

abstract class Store extends Base implements Reader
{
    use Logged;

    public const LIMIT = 10;
    private static int $count = 0;
    protected ?string $name;

    public function __construct(private array $items, string $name = 'store')
    {
        $this->name = $name;
    }

    public function read(string $name): ?Item
    {
        foreach ($this->items as $key => $item) {
            if ($key === $name) {
                return $item;
            }
        }
        try {
            $found = array_map(fn($x) => $x . "in {$name}", $this->items);
        } catch (\Exception $problem) {
            throw $problem;
        }
        $later = function (int $value) use ($found): int {
            return $value;
        };
        return null;
    }

    abstract protected function write(Item $item): void;

    public static function create(): static
    {
        return new static([]);
    }
}

final class Item
{
}

function helper_function(int $value, string ...$rest): int
{
    $local = $value + 1;
    return $local;
}

$instance = new Item();
