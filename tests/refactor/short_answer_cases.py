"""Programs of PHP, Ruby, Swift and Scala: every use of one symbol, which has a name of its own, is marked by hand."""

PHP = {
    "an inherited method through $this": {
        "a.php": "<?php\nclass Beast {\n    public function «*growl»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\nclass Wolf extends Beast {\n    public function go() {\n"
        "        return $this->«growl»();\n    }\n}\n",
    },
    "an inherited method through parent": {
        "a.php": "<?php\nclass Bird {\n    protected function «*chirp»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\nclass Wren extends Bird {\n    protected function «chirp»() {\n"
        "        return parent::«chirp»() + 1;\n"
        "    }\n}\n",
    },
    "a method of a trait": {
        "a.php": "<?php\ntrait Swims {\n    public function «*paddle»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\nclass Duck {\n    use Swims;\n\n    public function go() {\n"
        "        return $this->«paddle»();\n    }\n}\n",
    },
    "a method of a trait under another name": {
        "a.php": "<?php\ntrait Hops {\n    public function «*bounce»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\nclass Hare {\n    use Hops {\n        «bounce» as protected spring;\n    }\n}\n",
    },
    "a trait method that replaces another": {
        "a.php": "<?php\ntrait Digs {\n    public function «*burrow»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\nclass Mole {\n    use Digs, Tunnels {\n        Digs::«burrow» insteadof Tunnels;\n    }\n}\n",
    },
    "a static method through its class": {
        "a.php": "<?php\nclass Vault {\n    public static function «*unlock»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\necho Vault::«unlock»();\n",
    },
    "a static method through static and self": {
        "a.php": "<?php\nclass Forge {\n    public static function «*temper»() {\n        return 1;\n    }\n\n"
        "    public static function go() {\n        return static::«temper»() + self::«temper»();\n    }\n}\n",
    },
    "a callable of two strings": {
        "a.php": "<?php\nclass Press {\n    public static function «*stamp»($n) {\n        return $n;\n    }\n}\n",
        "b.php": "<?php\necho implode(array_map(['Press', '«stamp»'], [1]));\n",
    },
    "a callable of an object and a string": {
        "a.php": "<?php\nclass Mill {\n    public function «*grind»($n) {\n        return $n;\n    }\n\n"
        "    public function go() {\n        return array_map([$this, '«grind»'], [1]);\n    }\n}\n",
    },
    "a callable in one string": {
        "a.php": "<?php\nclass Loom {\n    public static function «*weave»($n) {\n        return $n;\n    }\n}\n",
        "b.php": "<?php\necho call_user_func('Loom::«weave»', 1);\n",
    },
    "a function by its name in a string": {
        "a.php": "<?php\nfunction «*double_up»($n) {\n    return $n * 2;\n}\n",
        "b.php": "<?php\necho implode(array_map('«double_up»', [1]));\n",
    },
    "a function in another file": {
        "a.php": "<?php\nfunction «*halve_it»($n) {\n    return $n / 2;\n}\n",
        "b.php": "<?php\nrequire 'a.php';\necho «halve_it»(2);\n",
    },
    "use function": {
        "a.php": "<?php\nnamespace Lib;\n\nfunction «*trim_all»($n) {\n    return $n;\n}\n",
        "b.php": "<?php\nnamespace App;\n\nuse function Lib\\«trim_all»;\n\necho «trim_all»(1);\n",
    },
    "use function with an alias": {
        "a.php": "<?php\nnamespace Kit;\n\nfunction «*pad_all»($n) {\n    return $n;\n}\n",
        "b.php": "<?php\nnamespace App;\n\nuse function Kit\\«pad_all» as pad;\n\necho pad(1);\n",
    },
    "a function by its whole name": {
        "a.php": "<?php\nnamespace Tools;\n\nfunction «*sand_all»($n) {\n    return $n;\n}\n",
        "b.php": "<?php\necho \\Tools\\«sand_all»(1);\n",
    },
    "use const": {
        "a.php": "<?php\nnamespace Units;\n\nconst «*METRE_LEN» = 1;\n",
        "b.php": "<?php\nnamespace App;\n\nuse const Units\\«METRE_LEN»;\n\necho «METRE_LEN»;\n",
    },
    "a constant of a class": {
        "a.php": "<?php\nclass Scale {\n    const «*MAX_LOAD» = 5;\n\n    public function go() {\n"
        "        return self::«MAX_LOAD»;\n    }\n}\n",
        "b.php": "<?php\necho Scale::«MAX_LOAD»;\n",
    },
    "a class by use and in a string": {
        "a.php": "<?php\nnamespace Yard;\n\nclass «*Wagon» {\n}\n",
        "b.php": "<?php\nuse Yard\\«Wagon»;\n\n$wagon = new «Wagon»();\necho $wagon instanceof «Wagon»;\n",
    },
    "a class with an alias": {
        "a.php": "<?php\nnamespace Dock;\n\nclass «*Barge» {\n}\n",
        "b.php": "<?php\nuse Dock\\«Barge» as Boat;\n\n$boat = new Boat();\n",
    },
    "a class in a group": {
        "a.php": "<?php\nnamespace Rail;\n\nclass «*Tender» {\n}\n\nclass Engine {\n}\n",
        "b.php": "<?php\nuse Rail\\{«Tender», Engine};\n\n$tender = new «Tender»();\n",
    },
    "a class by its name in a string": {
        "a.php": "<?php\nclass «*Cooper» {\n}\n",
        "b.php": "<?php\n$name = '«Cooper»';\n$made = new $name();\n",
    },
    "a property": {
        "a.php": "<?php\nclass Barrel {\n    public $«*staves» = 1;\n\n    public function go() {\n"
        "        return $this->«staves»;\n    }\n}\n",
        "b.php": "<?php\nfunction staves_of($barrel) {\n    return $barrel->«staves»;\n}\n",
    },
    "a static property": {
        "a.php": "<?php\nclass Keg {\n    public static $«*hoops» = 1;\n}\n",
        "b.php": "<?php\necho Keg::$«hoops»;\n",
    },
    "an interface's method": {
        "a.php": "<?php\ninterface Brews {\n    public function «*mash»();\n}\n",
        "b.php": "<?php\nclass Brewer implements Brews {\n    public function «mash»() {\n        return 1;\n"
        "    }\n}\n\n"
        "function go(Brews $one) {\n    return $one->«mash»();\n}\n",
    },
    "a method behind __call": {
        "a.php": "<?php\nclass Proxy {\n    private $of;\n\n    public function __call($name, $arguments) {\n"
        "        return $this->of->$name(...$arguments);\n    }\n}\n\nclass Real {\n    public function «*relay»() {\n"
        "        return 1;\n    }\n}\n",
        "b.php": "<?php\nfunction pass_on(Proxy $proxy) {\n    return $proxy->«relay»();\n}\n",
    },
    "a first-class callable": {
        "a.php": "<?php\nclass Anvil {\n    public function «*strike»($n) {\n        return $n;\n    }\n\n"
        "    public function go() {\n        return array_map($this->«strike»(...), [1]);\n    }\n}\n",
    },
    "a method of an anonymous class": {
        "a.php": "<?php\ninterface Casts {\n    public function «*pour»();\n}\n\n$made = new class implements Casts {\n"
        "    public function «pour»() {\n        return 1;\n    }\n};\necho $made->«pour»();\n",
    },
    "a case of an enum": {
        "a.php": "<?php\nenum Metal {\n    case «*Pewter»;\n    case Brass;\n}\n",
        "b.php": "<?php\nfunction is_pewter(Metal $metal) {\n    return $metal === Metal::«Pewter»;\n}\n",
    },
    "a method in a string of a framework": {
        "a.php": "<?php\nclass UserController {\n    public function «*showAll»() {\n        return 1;\n    }\n}\n",
        "b.php": "<?php\n$routes = ['/users' => 'UserController@«showAll»'];\n",
    },
    "a method in a string of another quote": {
        "a.php": "<?php\nclass Clerk {\n    public function «*fileAway»() {\n        return 1;\n    }\n}\n",
        "b.php": '<?php\nfunction run_it($clerk) {\n    return $clerk->{"«fileAway»"}();\n}\n',
    },
}
RUBY = {
    "an inherited method without a receiver": {
        "a.rb": "class Beast\n  def «*growl»\n    1\n  end\nend\n",
        "b.rb": "class Wolf < Beast\n  def go\n    «growl» + 1\n  end\nend\n",
    },
    "an inherited method without a receiver, with arguments": {
        "a.rb": "class Bird\n  def «*chirp»(n)\n    n\n  end\nend\n",
        "b.rb": "class Wren < Bird\n  def go\n    «chirp» 2\n  end\nend\n",
    },
    "a method of an included module": {
        "a.rb": "module Swims\n  def «*paddle»\n    1\n  end\nend\n",
        "b.rb": "class Duck\n  include Swims\n\n  def go\n    «paddle»\n  end\nend\nDuck.new.«paddle»\n",
    },
    "a method of an extending module": {
        "a.rb": "module Hops\n  def «*bounce»\n    1\n  end\nend\n",
        "b.rb": "class Hare\n  extend Hops\nend\nHare.«bounce»\n",
    },
    "a method of a prepended module": {
        "a.rb": "module Digs\n  def «*burrow»\n    super + 1\n  end\nend\n",
        "b.rb": "class Mole\n  prepend Digs\n\n  def «burrow»\n    1\n  end\nend\n",
    },
    "alias_method": {
        "a.rb": "class Vault\n  def «*unlock»\n    1\n  end\n  alias_method :open_up, :«unlock»\nend\n",
    },
    "alias": {
        "a.rb": "class Forge\n  def «*temper»\n    1\n  end\n  alias harden «temper»\nend\n",
    },
    "send with a symbol": {
        "a.rb": "class Press\n  def «*stamp»\n    1\n  end\nend\n",
        "b.rb": "Press.new.send(:«stamp»)\n",
    },
    "public_send with a string": {
        "a.rb": "class Mill\n  def «*grind»\n    1\n  end\nend\n",
        "b.rb": "Mill.new.public_send('«grind»')\n",
    },
    "method with a symbol": {
        "a.rb": "class Loom\n  def «*weave»(n)\n    n\n  end\n\n  def go\n    [1].map(&method(:«weave»))\n  end\nend\n",
    },
    "private with a symbol": {
        "a.rb": "class Safe\n  def «*combine»\n    1\n  end\n\n  def go\n    «combine»\n  end\n"
        "  private :«combine»\nend\n",
    },
    "delegated by a symbol": {
        "a.rb": "class Engine\n  def «*ignite»\n    1\n  end\nend\n",
        "b.rb": "require 'forwardable'\n\nclass Car\n  extend Forwardable\n  def_delegators :@engine, :«ignite»\n\n"
        "  def initialize\n    @engine = Engine.new\n  end\nend\nCar.new.«ignite»\n",
    },
    "method_missing": {
        "a.rb": "class Real\n  def «*relay»\n    1\n  end\nend\n\nclass Proxy\n  def method_missing(name, *args)\n"
        "    Real.new.send(name, *args)\n  end\nend\n",
        "b.rb": "Proxy.new.«relay»\n",
    },
    "a hook by its name": {
        "a.rb": "class Post\n  before_save :«tidy_up»\n\n  def «*tidy_up»\n    1\n  end\nend\n",
    },
    "an accessor": {
        "a.rb": "class Barrel\n  attr_accessor :«*staves»\n\n  def go\n    self.«staves» = 2\n"
        "    «staves» + @«staves»\n  end\nend\n",
        "b.rb": "Barrel.new.«staves» = 3\n",
    },
    "a method of the class": {
        "a.rb": "class Keg\n  def self.«*tapped»\n    1\n  end\nend\n",
        "b.rb": "Keg.«tapped»\n",
    },
    "a method of the class, inherited": {
        "a.rb": "class Cask\n  class << self\n    def «*aged»\n      1\n    end\n  end\nend\n",
        "b.rb": "class Tun < Cask\n  def self.go\n    «aged»\n  end\nend\nTun.«aged»\n",
    },
    "module_function": {
        "a.rb": "module Tools\n  module_function\n\n  def «*sanded»(n)\n    n\n  end\nend\n",
        "b.rb": "Tools.«sanded»(1)\n",
    },
    "a method outside of classes": {
        "a.rb": "def «*halve_it»(n)\n  n / 2\nend\n",
        "b.rb": "require_relative 'a'\nputs «halve_it»(2)\n",
    },
    "a constant": {
        "a.rb": "class Scale\n  «*MAX_LOAD» = 5\n\n  def go\n    «MAX_LOAD»\n  end\nend\n",
        "b.rb": "puts Scale::«MAX_LOAD»\n",
    },
    "a constant, inherited": {
        "a.rb": "class Meter\n  «*TICK_LEN» = 5\nend\n",
        "b.rb": "class Clock < Meter\n  def go\n    «TICK_LEN»\n  end\nend\n",
    },
    "a class": {
        "a.rb": "module Yard\n  class «*Wagon»\n  end\nend\n",
        "b.rb": "Yard::«Wagon».new\n",
    },
    "a class that is opened again": {
        "a.rb": "class «*Tender»\n  def one\n    1\n  end\nend\n",
        "b.rb": "class «Tender»\n  def two\n    2\n  end\nend\n«Tender».new.two\n",
    },
    "a class by its name": {
        "a.rb": "class «*Cooper»\nend\n",
        "b.rb": "Object.const_get('«Cooper»').new\n",
    },
    "super": {
        "a.rb": "class Anvil\n  def «*strike»(n)\n    n\n  end\nend\n",
        "b.rb": "class Block < Anvil\n  def «strike»(n)\n    super(n) + 1\n  end\nend\n",
    },
    "a method with a question mark": {
        "a.rb": "class Gate\n  def «*latched?»\n    true\n  end\n\n  def go\n    «latched?» ? 1 : 2\n  end\nend\n",
    },
    "define_method": {
        "a.rb": "class Clerk\n  define_method(:«*file_away») { 1 }\n\n  def go\n    «file_away»\n  end\nend\n",
    },
    "a safe call and a block": {
        "a.rb": "class Urn\n  def «*pour»\n    1\n  end\nend\n",
        "b.rb": "def go(urn)\n  urn&.«pour»\n  [urn].each(&:«pour»)\nend\n",
    },
    "respond_to?": {
        "a.rb": "class Pump\n  def «*prime»\n    1\n  end\nend\n",
        "b.rb": "def check(pump)\n  pump.respond_to?(:«prime»)\nend\n",
    },
    "refined": {
        "a.rb": "module Fancy\n  refine String do\n    def «*curled»\n      self\n    end\n  end\nend\n",
        "b.rb": "using Fancy\nputs 'a'.«curled»\n",
    },
}
SWIFT = {
    "an inherited method without a receiver": {
        "A.swift": "class Beast {\n    func «*growl»() -> Int { return 1 }\n}\n",
        "B.swift": "class Wolf: Beast {\n    func go() -> Int { return «growl»() }\n}\n",
    },
    "an override and super": {
        "A.swift": "class Bird {\n    func «*chirp»() -> Int { return 1 }\n}\n",
        "B.swift": "class Wren: Bird {\n    override func «chirp»() -> Int { return super.«chirp»() + 1 }\n}\n",
    },
    "a protocol": {
        "A.swift": "protocol Swims {\n    func «*paddle»() -> Int\n}\n",
        "B.swift": "struct Duck: Swims {\n    func «paddle»() -> Int { return 1 }\n}\n\n"
        "func go(one: Swims) -> Int { return one.«paddle»() }\n",
    },
    "a protocol that an extension adopts": {
        "A.swift": "protocol Hops {\n    func «*bounce»() -> Int\n}\n",
        "B.swift": "struct Hare {\n}\n\nextension Hare: Hops {\n    func «bounce»() -> Int { return 1 }\n}\n",
    },
    "a default in an extension of a protocol": {
        "A.swift": "protocol Digs {\n}\n\nextension Digs {\n    func «*burrow»() -> Int { return 1 }\n}\n",
        "B.swift": "struct Mole: Digs {\n    func go() -> Int { return «burrow»() }\n}\n",
    },
    "an extension in another file": {
        "A.swift": "struct Vault {\n}\n",
        "B.swift": "extension Vault {\n    func «*unlock»() -> Int { return 1 }\n}\n",
        "C.swift": "func openAll(vault: Vault) -> Int { return vault.«unlock»() }\n",
    },
    "an extension of a type from outside": {
        "A.swift": "extension String {\n    func «*curled»() -> String { return self }\n}\n",
        "B.swift": 'let curl = "a".«curled»()\n',
    },
    "members of the same type in an extension": {
        "A.swift": "struct Forge {\n    func «*temper»() -> Int { return 1 }\n}\n",
        "B.swift": "extension Forge {\n    func go() -> Int { return «temper»() }\n}\n",
    },
    "a static method": {
        "A.swift": "struct Press {\n    static func «*stamp»() -> Int { return 1 }\n}\n",
        "B.swift": "let pressed = Press.«stamp»()\n",
    },
    "a static method through Self": {
        "A.swift": "struct Mill {\n    static func «*grind»() -> Int { return 1 }\n\n"
        "    func go() -> Int { return Self.«grind»() }\n}\n",
    },
    "an implicit member": {
        "A.swift": "struct Paint {\n    static let «*ochre» = Paint()\n}\n",
        "B.swift": "func use(paint: Paint) {}\n\nfunc brush() { use(paint: .«ochre») }\n",
    },
    "a case of an enum": {
        "A.swift": "enum Metal {\n    case «*pewter»\n    case brass\n}\n",
        "B.swift": "func isPewter(metal: Metal) -> Bool {\n    switch metal {\n    case .«pewter»: return true\n"
        "    default: return false\n    }\n}\n",
    },
    "a selector": {
        "A.swift": "class Clerk: NSObject {\n    @objc func «*fileAway»() {}\n\n"
        "    func go() { perform(#selector(«fileAway»)) }\n}\n",
    },
    "a selector in a string": {
        "A.swift": 'class Bell: NSObject {\n    @objc func «*ringOut»() {}\n}\n\nlet ring = Selector("«ringOut»")\n',
    },
    "a key path": {
        "A.swift": "struct Barrel {\n    var «*staves»: Int = 1\n}\n",
        "B.swift": "let paths = [Barrel()].map(\\.«staves»)\n",
    },
    "a whole key path": {
        "A.swift": "struct Keg {\n    var «*hoops»: Int = 1\n}\n",
        "B.swift": "let hoopPath = \\Keg.«hoops»\n",
    },
    "a property without self": {
        "A.swift": "class Cask {\n    var «*agedFor» = 1\n}\n",
        "B.swift": "class Tun: Cask {\n    func go() -> Int { return «agedFor» }\n}\n",
    },
    "a label of an argument": {
        "A.swift": "func pourOut(«*measure»: Int) -> Int { return «measure» }\n",
        "B.swift": "let poured = pourOut(«measure»: 1)\n",
    },
    "a label of an initializer": {
        "A.swift": "struct Wagon {\n    var «*wheels»: Int\n}\n",
        "B.swift": "let wagon = Wagon(«wheels»: 4)\nlet turning = wagon.«wheels»\n",
    },
    "a function in another file": {
        "A.swift": "func «*halveIt»(n: Int) -> Int { return n / 2 }\n",
        "B.swift": "let half = «halveIt»(n: 2)\n",
    },
    "a class": {
        "A.swift": "class «*Tender» {\n}\n",
        "B.swift": "let tender: «Tender» = «Tender»()\n\nextension «Tender» {\n}\n",
    },
    "a nested type": {
        "A.swift": "enum Yard {\n    struct «*Barge» {\n    }\n}\n",
        "B.swift": "let barge = Yard.«Barge»()\n\nextension Yard {\n"
        "    func make() -> «Barge» { return «Barge»() }\n}\n",
    },
    "a typealias": {
        "A.swift": "typealias «*Boats» = [String]\n",
        "B.swift": "let boats: «Boats» = []\n",
    },
    "an associated type": {
        "A.swift": "protocol Holds {\n    associatedtype «*Load»\n    func take(load: «Load»)\n}\n",
        "B.swift": "struct Crate: Holds {\n    typealias «Load» = Int\n    func take(load: Int) {}\n}\n",
    },
    "a wrapped property": {
        "A.swift": "class Lamp {\n    @Published var «*lit» = false\n}\n",
        "B.swift": "func watch(lamp: Lamp) { _ = lamp.$«lit» }\n",
    },
    "an optional chain and a closure": {
        "A.swift": "class Urn {\n    func «*decant»() -> Int { return 1 }\n}\n",
        "B.swift": "func tilt(urn: Urn?, urns: [Urn]) -> Int {\n    let all = urns.map { $0.«decant»() }\n"
        "    return (urn?.«decant»() ?? 0) + all[0]\n}\n",
    },
    "an operator function": {
        "A.swift": "struct Vec {\n    var «*abscissa»: Int\n\n    static func + (a: Vec, b: Vec) -> Vec {\n"
        "        return Vec(«abscissa»: a.«abscissa» + b.«abscissa»)\n    }\n}\n",
    },
    "text that is interpolated": {
        "A.swift": "class Sign {\n    var «*painted» = 1\n}\n",
        "B.swift": 'func show(sign: Sign) -> String { return "is \\(sign.«painted»)" }\n',
    },
}
SCALA = {
    "an inherited method without a receiver": {
        "A.scala": "class Beast {\n  def «*growl»(): Int = 1\n}\n",
        "B.scala": "class Wolf extends Beast {\n  def go: Int = «growl»()\n}\n",
    },
    "an override and super": {
        "A.scala": "class Bird {\n  def «*chirp»: Int = 1\n}\n",
        "B.scala": "class Wren extends Bird {\n  override def «chirp»: Int = super.«chirp» + 1\n}\n",
    },
    "a trait": {
        "A.scala": "trait Swims {\n  def «*paddle»: Int\n}\n",
        "B.scala": "class Duck extends Beast with Swims {\n  def «paddle»: Int = 1\n}\n",
    },
    "a self type": {
        "A.scala": "trait Hops {\n  def «*bounce»: Int = 1\n}\n",
        "B.scala": "trait Springs { self: Hops =>\n  def go: Int = «bounce» + self.«bounce»\n}\n",
    },
    "an object": {
        "A.scala": "object Vault {\n  def «*unlock»(): Int = 1\n}\n",
        "B.scala": "class Guard {\n  def go: Int = Vault.«unlock»()\n}\n",
    },
    "a member that is imported": {
        "A.scala": "package a\n\nobject Forge {\n  def «*temper»(n: Int): Int = n\n}\n",
        "B.scala": "package b\n\nimport a.Forge.«temper»\n\nclass Smith {\n  def go: Int = «temper»(1)\n}\n",
    },
    "members that are imported together": {
        "A.scala": "package a\n\nobject Press {\n  def «*stamp»(n: Int): Int = n\n}\n",
        "B.scala": "package b\n\nimport a.Press._\n\nclass Printer {\n  def go: Int = «stamp»(1)\n}\n",
    },
    "a member that is imported under another name": {
        "A.scala": "package a\n\nobject Mill {\n  def «*grind»(n: Int): Int = n\n}\n",
        "B.scala": "package b\n\nimport a.Mill.{«grind» => crush}\n\nclass Miller {\n  def go: Int = crush(1)\n}\n",
    },
    "an import in a function": {
        "A.scala": "package a\n\nobject Loom {\n  def «*weave»(n: Int): Int = n\n}\n",
        "B.scala": "package b\n\nclass Weaver {\n  def go: Int = {\n    import a.Loom._\n    «weave»(1)\n  }\n}\n",
    },
    "a field of a case class": {
        "A.scala": "case class Barrel(«*staves»: Int, hoops: Int)\n",
        "B.scala": "object UsesBarrel {\n"
        "  def go(barrel: Barrel): Barrel = barrel.copy(«staves» = barrel.«staves» + 1)\n}\n",
    },
    "a case class in a pattern": {
        "A.scala": "case class «*Keg»(litres: Int)\n",
        "B.scala": "object UsesKeg {\n  def go(any: Any): Int = any match {\n    case «Keg»(litres) => litres\n"
        "    case other: «Keg» => other.litres\n  }\n  val keg = «Keg»(1)\n}\n",
    },
    "a class and its companion": {
        "A.scala": "class «*Cask»(val size: Int)\n\nobject «Cask» {\n  val empty = new «Cask»(0)\n}\n",
        "B.scala": "object UsesCask {\n  val cask = «Cask».empty\n}\n",
    },
    "an implicit class": {
        "A.scala": "package a\n\nobject Texts {\n  implicit class Fancy(of: String) {\n"
        "    def «*curled»: String = of\n  }\n}\n",
        "B.scala": 'package b\n\nimport a.Texts._\n\nobject UsesFancy {\n  val text = "a".«curled»\n}\n',
    },
    "an implicit value": {
        "A.scala": "object Settings {\n  implicit val «*depthOf»: Int = 1\n}\n",
        "B.scala": "object UsesDepth {\n  import Settings.«depthOf»\n\n  def go(implicit n: Int): Int = n\n\n"
        "  val n = go\n}\n",
    },
    "an implicit conversion": {
        "A.scala": "import scala.language.implicitConversions\n\nobject Turns {\n"
        "  implicit def «*asText»(n: Int): String = n.toString\n}\n",
        "B.scala": "object UsesTurns {\n  import Turns.«asText»\n\n  val text: String = 1\n}\n",
    },
    "an infix call": {
        "A.scala": "class Rule {\n  def «*andAlso»(other: Rule): Rule = other\n}\n",
        "B.scala": "object UsesRule {\n  def go(a: Rule, b: Rule): Rule = a «andAlso» b\n}\n",
    },
    "a method as a function": {
        "A.scala": "object Anvil {\n  def «*strike»(n: Int): Int = n\n\n  val all = List(1).map(«strike»)\n}\n",
        "B.scala": "object UsesAnvil {\n  val all = List(1).map(Anvil.«strike» _)\n}\n",
    },
    "a named argument": {
        "A.scala": "object Pump {\n  def fill(«*litres»: Int): Int = «litres»\n}\n",
        "B.scala": "object UsesPump {\n  val n = Pump.fill(«litres» = 1)\n}\n",
    },
    "a package object": {
        "a/package.scala": "package object tools {\n  def «*sanded»(n: Int): Int = n\n}\n",
        "a/B.scala": "package tools\n\nclass Sander {\n  def go: Int = «sanded»(1)\n}\n",
    },
    "text that is interpolated": {
        "A.scala": 'class Sign {\n  val «*painted» = 1\n\n  def show: String = s"is $«painted» ${«painted» + 1}"\n}\n',
    },
    "a setter": {
        "A.scala": "class Gate {\n  private var _latch = 1\n\n  def «*latch»: Int = _latch\n\n"
        "  def latch_=(n: Int): Unit = _latch = n\n}\n",
        "B.scala": "object UsesGate {\n  def go(gate: Gate): Unit = gate.«latch» = 2\n}\n",
    },
    "a type member": {
        "A.scala": "trait Holds {\n  type «*Load»\n\n  def take(load: «Load»): Unit\n}\n",
        "B.scala": "class Crate extends Holds {\n  type «Load» = Int\n\n  def take(load: Int): Unit = ()\n}\n",
    },
    "a class in another package": {
        "A.scala": "package yard\n\nclass «*Wagon»\n",
        "B.scala": "package rail\n\nimport yard.{«Wagon», Other}\n\nobject UsesWagon {\n  val wagon = new «Wagon»\n}\n",
    },
    "members of an enclosing package": {
        "A.scala": "package outer\n\nobject Shed {\n  def «*stored»: Int = 1\n}\n",
        "B.scala": "package outer\npackage inner\n\nobject UsesShed {\n  val n = Shed.«stored»\n}\n",
    },
    "for with a member": {
        "A.scala": "class Row {\n  def «*cells»: List[Int] = Nil\n}\n",
        "B.scala": "object UsesRow {\n"
        "  def go(rows: List[Row]): List[Int] = for (row <- rows; cell <- row.«cells») yield cell\n}\n",
    },
    "an anonymous class": {
        "A.scala": "trait Casts {\n  def «*pour»(): Int\n}\n",
        "B.scala": "object UsesCasts {\n  val made = new Casts {\n    def «pour»(): Int = 1\n  }\n"
        "  val n = made.«pour»()\n}\n",
    },
    "a val that implements a def": {
        "A.scala": "trait Sized {\n  def «*girth»: Int\n}\n",
        "B.scala": "class Log extends Sized {\n  val «girth» = 1\n}\n\nclass Trunk(val «girth»: Int) extends Sized\n",
    },
    "a structural type": {
        "A.scala": "class Bell {\n  def «*ringOut»(): Unit = ()\n}\n",
        "B.scala": "object UsesBell {\n  def go(any: { def «ringOut»(): Unit }): Unit = any.«ringOut»()\n}\n",
    },
}
CASES: dict[str, dict[str, dict[str, str]]] = {"php": PHP, "ruby": RUBY, "swift": SWIFT, "scala": SCALA}
